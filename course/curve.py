"""A page with the accuracy of a student's engine, next to the project's, on longer strings than in training.

Both curves are computed when they are asked for, by one program (course/curve.cpp), once from the student's folder and
once from the project's own bodies.
"""

import html
import subprocess

import build
import marks

first, last = 9, 13                    # the steps that have one
trained, longest, chance = 20, 100, 20           # trains on strings of up to 20, tests up to 100; chance: 1 of 5 digits
training = 1200                        # steps
colours = "#2563a8 #b03a2e #2e8b57 #8b5a2b".split()

# The comparisons of a step: a title, a sampler, an encoding, and perhaps another encoding for the test.
counted = "sequential"
plans: dict[int, list[tuple]] = {9: [("sincos", counted, "sincos"), ("learned", counted, "learned")],
         10: [("rope", counted, "rope")],
         11: [("alibi", counted, "alibi"), ("relative", counted, "relative")],
         12: [("rope, counted positions", counted, "rope"),
              ("rope, randomized positions", "randomized:max_position=200", "rope")],
         13: [("rope", counted, "rope"), ("rope, tested with rerope", counted, "rope", "rerope:window=16"),
              ("window", counted, "window:window=8")]}


def projects_folder(folder):
    """The project's own bodies, in a folder of the same form."""
    own = folder / "build/project"
    for path in marks.files():
        text = marks.text_of(marks.root, path)
        at = own / path
        if not at.exists() or at.read_text() != text:
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(text)
    return own


def curves_of(programs, steps, plan):
    """The curve {length: percent} of each program; they run at once, because each uses one core."""
    running = [subprocess.Popen([program, str(steps), *plan[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace") for program in programs]
    curves = []
    for program, process in zip(programs, running):
        output, error = process.communicate()
        if process.returncode:
            raise marks.Broken(f"{program} {' '.join(plan[1:])}: {error or build.ended_by(process)}; the check of an "
                               "earlier step may say why: tools/course check DIR --step N")
        curves.append({int(length): float(percent) for length, percent in
                       map(str.split, build.said_by_tests.findall(output))})
    return curves


def compared(mine, theirs):
    """One sentence about two curves."""
    apart = [length for length in mine if abs(mine[length] - theirs[length]) > 0.005]
    if not apart:
        return "yours equals the project's, number for number"
    widest = max(apart, key=lambda length: abs(mine[length] - theirs[length]))
    return (f"yours and the project's differ at {len(apart)} of {len(mine)} lengths, most at {widest}: "
            f"{mine[widest]:.1f} % and {theirs[widest]:.1f} %")


def picture(results):
    """An SVG with the project's curves broad and pale, and the student's thin on top of them."""
    width, height, left, top, right, bottom = 720, 380, 60, 20, 700, 330

    def x(length):
        return left + length / longest * (right - left)

    def y(percent):
        return bottom - percent / 100 * (bottom - top)

    def line(curve, style):
        points = " ".join(f"{x(length):.1f},{y(percent):.1f}" for length, percent in curve.items())
        return f'<polyline points="{points}" fill="none" {style}/>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             "<title>Accuracy at each length, yours and the project's</title>",
             f'<rect x="{x(0):.1f}" y="{top}" width="{x(trained) - x(0):.1f}" height="{bottom - top}" fill="#eef3f8"/>',
             f'<text x="{(x(0) + x(trained)) / 2:.1f}" y="{bottom - 8}" text-anchor="middle" fill="#555">'
             'trained</text>']
    for percent in range(0, 101, 20):
        parts.append(f'<line x1="{left}" y1="{y(percent):.1f}" x2="{right}" y2="{y(percent):.1f}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{y(percent) + 4:.1f}" text-anchor="end" fill="#222">{percent} %</text>')
    for length in range(0, longest + 1, 20):
        parts.append(f'<text x="{x(length):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#222">{length}</text>')
    parts.append(f'<line x1="{left}" y1="{y(chance):.1f}" x2="{right}" y2="{y(chance):.1f}" stroke="#555" '
                 f'stroke-dasharray="3,3"/><text x="{right}" y="{y(chance) + 14:.1f}" text-anchor="end" fill="#555">'
                 f'guessing</text><text x="{(left + right) / 2}" y="{bottom + 38}" text-anchor="middle" fill="#222">'
                 'length of the string</text>')
    for n, (_, mine, theirs) in enumerate(results):
        colour = colours[n % len(colours)]
        parts += [line(theirs, f'stroke="{colour}" stroke-width="7" stroke-opacity="0.25"'),
                  line(mine, f'stroke="{colour}" stroke-width="2"')]
    return "\n".join(parts + ["</svg>"])


def page(step, results, steps):
    titles = "".join(f'<li><span style="color:{colours[n % len(colours)]}">&#9632;</span> {html.escape(title)}: '
                     f"{compared(mine, theirs)}</li>\n" for n, (title, mine, theirs) in enumerate(results))
    head = "".join(f"<th>{html.escape(title)}, yours</th><th>the project's</th>" for title, _, _ in results)
    rows = "".join(f"<tr><td>{length}</td>" + "".join(f"<td>{mine[length]:.1f}</td><td>{theirs[length]:.1f}</td>"
                                                      for _, mine, theirs in results) + "</tr>\n"
                   for length in results[0][1])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Step {step}: your length curve</title>
<style>body {{font-family: sans-serif; max-width: 50em; margin: 2em auto; line-height: 1.5}}
td, th {{padding: 0 0.8em; text-align: right}}</style></head><body>
<h1>Step {html.escape(marks.title_of(step))}</h1>
<p>An encoder of one layer, width 32, sorts strings of digits. It was trained for {steps} steps on strings of up to
{trained}, and tested on strings of up to {longest}: how many digits of the answers are right. Thin lines are your
engine, broad ones the project's, trained and tested by the same program just now. Engines that add in the same order
have the same curve, number for number. Another order rounds in another way, and training amplifies the difference:
then compare where the curves fall, not their numbers. Another seed gives another curve, too.</p>
{picture(results)}
<ul>
{titles}</ul>
<details><summary>The numbers, in percent</summary><table>
<tr><th>length</th>{head}</tr>
{rows}</table></details>
</body></html>
"""


def plan_of(encoding, positions, at_test):
    """One more curve, with the student's choices."""
    title = encoding + (f", {positions}" if positions != counted else "") + (f", tested with {at_test}" if at_test
                                                                             else "")
    return (title, positions, encoding) + ((at_test,) if at_test else ())


def results_of(folder, step, plan_list, steps):
    """[(title, the student's curve, the project's)]"""
    programs = [build.built(folder, "curve", step)]                    # first: this build may empty build/
    programs.append(build.built(projects_folder(folder), "curve", step))
    return [(plan[0], *curves_of(programs, steps, plan)) for plan in plan_list]
