#!/usr/bin/env bash
# A page of the site: all schemes, samplers and temperature policies as the program explains them, what each scheme
# costs (bench/results/schemes.csv), and what it is tested against, as the golden files say.
# usage: docs/site/schemes.sh PROGRAM              the page, as docs/schemes.md of the site
#        docs/site/schemes.sh PROGRAM FOLDER       the data of a picture of each scheme, FOLDER/NAME.json
set -euo pipefail
export LC_ALL=C
program=$(realpath "$1")
pictures=${2:+$(mkdir -p "$2" && realpath "$2")}
costs=bench/results/schemes.csv
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# What `explain` prints, as lines "KEY TAB TEXT": summary, formula, doors, mask, option, ...
fields() {   # KIND NAME
  "$program" explain "$1" "$2" | awk -v OFS='\t' '
    function option() {
      gsub(/ +/, " ", takes); sub(/ $/, "", takes); sub(/^ *[^ ]+ /, "", takes)
      sub(/^(on \| off|[-0-9.e]+ \.\. [^(]*) \(/, "(", takes)      # of switches and numbers the default is enough
      if (name != "") print "option", "`" name "` " (takes ~ /^\(/ ? "" : "= ") takes ": " help; name = "" }
    NR == 1 { sub(/^[^ ]*: /, ""); summary = $0; next }
    /^$/ && summary { print "summary", summary; summary = ""; next }
    summary { summary = summary " " $0; next }
    /^options, with/ { options = 1; next }
    options && /^  [^ ]/ {
      option(); name = $1
      match($0, /.*[^ ]  +/); at = RLENGTH + 1; takes = substr($0, 1, at - 1); help = substr($0, at) }
    options && /^   / { takes = takes " " substr($0, 1, at - 1); more = substr($0, at); if (more) help = help " " more }
    options { next }
    /^(formula|doors|reads|mask|learns|source|file) / && match($0, /^[a-z]+ +/) && RLENGTH == 10 {   # no prose
      key = $1; print key, substr($0, 11); next }
    /^          / && key { print key, substr($0, 11); next }
    { key = "" }
    END { option() }'
}
get() { awk -F'\t' -v key="$2" '$1 == key { print $2 }' <<< "$1"; }           # FIELDS KEY
joined() { paste -sd $'\1' | sed "s/\x1/$1/g"; }                                # SEPARATOR
item() { printf -- '- %s\n' "$1" | fold -s -w 118 | sed 's/ *$//; 2,$s/^/  /'; }
golden() { { grep -lE "^\"encoding\": \"$2[\":*|]" tests/data/"$1"/*.json || true; } | sort; }   # FOLDER NAME

# How `show` draws it: with options that matter within 16 slots, in the view that says most.
drawn() {   # NAME FIELDS
  local options='' view='' head='' mask=''
  case $1 in
    rerope) options=:window=5 view=relative ;;
    self_extend) options=:window=4,group=3 view=relative ;;
    window) options=:window=5 view=relative ;;
    lambda | sinks) options=:window=5,sinks=2 view=relative ;;
    dual_chunk) options=:chunk=6,window=3 view=relative ;;
    hfwa | hfwa2 | rnope) options=:window=5 ;;
    hard_alibi) head=3 ;;
    entmax) options=:base=alibi ;;
  esac
  [[ $(get "$2" mask) != 'causal only'* ]] || mask=' --causal'
  echo "$1$options${view:+ --view $view}${head:+ --head $head} --length 16$mask"
}

cost() {   # NAME
  awk -F, -v name="$1" '
    function many(n, size) {
      size = n < 0 ? -n : n
      return size < 1e3 ? sprintf("%+d ", n) : size < 1e6 ? sprintf("%+.1f k", n / 1e3) : sprintf("%+.1f M", n / 1e6) }
    $1 == name {
      printf "a training step takes %.2f times that without positions (%.1f and %.1f ms); a token adds %sFLOP and %sB",
             $3 / $4, $3, $4, many($5), many($6) }' $costs
}

entry() {   # NAME OF A SCHEME
  local about by mask cost numpy=python/poslab/formulas/$1.py
  about=$(fields encoding "$1")
  printf '\n### %s\n\n%s.\n\n%s\n\n' "$1" "$(get "$about" summary | sed 's/^./\U&/')" \
    "$(get "$about" formula | joined ' ' | fold -s -w 112 | sed 's/^/    /; s/ *$//')"
  printf '![poslab show %s](schemes/%s.svg)\n\n' "$(drawn "$1" "$about")" "$1"
  get "$about" option | while IFS= read -r by; do item "$by"; done
  mask=$(get "$about" mask | joined ' ' | sed 's/^causal or none/with a causal mask or without/; s/ only/ mask only/')
  doors=$(get "$about" doors | joined ' ')
  item "Doors: ${doors%%;*}. Reads $(get "$about" reads | joined ' '). Works ${mask/#causal/with a causal}."
  item "Learns $(get "$about" learns | joined ' ')."
  cost=$(cost "$1")
  [[ -n $cost ]] || { echo "$costs has no $1; run ./dev bench schemes" >&2; return 1; }
  item "Cost: $cost."
  item "Source: $(get "$about" source | joined ' '). File: [\`$(get "$about" file)\`](../$(get "$about" file))."
  accuracies "$1" | while IFS= read -r by; do item "$by"; done
  by=$(golden published "$1" | xargs -r sed -n 's/^"source": "\(.*\)",/\1/p' | sort -u | joined '; ')
  item "Independent models: $(golden reference "$1" | wc -l).${by:+ Published code: $by.}"
  printf '\n<details><summary>The formula as NumPy: poslab.formulas.%s</summary>\n\n```python\n' "$1"
  cat "$numpy"
  printf '```\n\n[`%s`](../%s)\n\n</details>\n' "$numpy" "$numpy"
}

# Accuracies of results/every-scheme, where it has them: "even_pairs 58.1, bucket_sort 37.1 (3 seeds)".
accuracies() {   # NAME
  local file
  for file in ranking causal; do
    file=results/every-scheme/$file.csv
    # rerope:window=10 is rerope at its default, a share of the trained length
    [[ ! -f $file ]] || sed -E 's/^"?([a-z0-9_]+):[^"]*",/\1,/; s/^([a-z0-9_]+):[^,]*,/\1,/' "$file" |
      awk -F, -v name="$1" '
      NR == 1 { for (n = 1; n <= NF; ++n) at[$n] = n; next }
      $1 != name || $at["task"] == "mean" || $at["mean"] == "" { next }
      { seeds = $at["seeds"] == 1 ? "1 seed" : $at["seeds"] " seeds"
        if (last && last != seeds) text = text " (" last ")"
        text = text (text ? ", " : "") $at["task"] sprintf(" %.1f", 100 * $at["mean"]); last = seeds
        mask = $at["causal"] == "on" ? " with a causal mask" : "" }
      END { if (text) print "Accuracy in %" mask ", lengths 21 to 100: " text " (" last ")." }'
  done | sed -n 1p
}

table() {   # KIND
  local name about
  printf '\n| name | what it does | options | source |\n|---|---|---|---|\n'
  for name in $("$program" list "$1s" | grep -oE '^[a-z0-9_]+'); do
    about=$(fields "$1" "$name" | sed 's/|/\\|/g')
    # shellcheck disable=SC2016
    printf '| `%s` | %s | %s | %s |\n' "$name" \
      "$(get "$about" summary)$(get "$about" formula | joined ' ' | sed 's/^./<br>&/')" \
      "$(get "$about" option | joined '<br>')" "$(get "$about" source | joined ' ')"
  done
}

if [[ -n $pictures ]]; then
  for name in $("$program" list encodings | grep -oE '^[a-z0-9_]+'); do
    read -ra words <<< "$(drawn "$name" "$(fields encoding "$name")")"
    POSLAB_ISA=baseline "$program" show "${words[@]}" -o "$pictures/$name.json"    # the same bits on all machines
  done
  exit
fi

cat << 'EOF'
# All schemes, samplers and temperature policies

This page says of each scheme what it does, by which formula, what it reads of the positions, and what it was tested
against. It is what the program itself says: `poslab explain encoding NAME` prints more, with a small matrix, and
`poslab show NAME` draws it ([Pictures](pictures.md)). How encodings are spelled and combined is in
[encodings.md](encodings.md), and where a paper and its code differ in [differences.md](differences.md).

Notation: i is the slot of a query and j that of a key, p_i the position of slot i, D the width of a head, H the number
of heads, C the width of the model. f_m = base^(-2m/D) is the frequency of pair m of the channels. The number in
parentheses after an option is its default.

- **The picture** has a row for each query and a column for each key, of 16 slots, in the first head, before training.
  `bias` is what is added to the logit of a pair, or, of rotations and embeddings, how alike two positions look;
  `relative` is the distance that the scheme makes of a pair. One colour everywhere means that it tells no positions, or
  none before it is trained. The text of the image is the command that draws it.
- **Doors.** Where positions enter: 1 at the embedding, 2 as rotated queries and keys, 3 as a term of the logits, 4 as
  weights of its own ([more](design.md#concepts)).
- **Learns.** Parameters of a model of 5 layers, width 64, 8 heads and 2048 positions.
- **Reads.** What the scheme reads of the positions: a position for each token, distances of positions, one offset for
  each distance of slots (the same for all pairs so far apart), the order of slots alone, or nothing. Samplers make a
  difference to the first three. A few options need a causal mask though the scheme does not; the program then says so.
- **Cost.** Of a training step of that model, at batch 128 with 20 input symbols and 20 output slots and with the
  scheme's defaults, beside the same step without positions (with a causal mask, both, where the scheme needs one): its
  processor time, the floating-point operations of its products, and the bytes that its kernels read and write, each
  array once. What is added to the embedding costs 73.7 kFLOP, because without it the first layer projects each symbol
  once and not each token. `./dev bench schemes` measures it.
- **Accuracy.** On strings longer than those trained on, of [every scheme beside the
  others](../results/every-scheme/README.md), a model of three layers. A window of 0.5L is 10 symbols
  there; `length`, where it is the trained one, was 40.
- **Independent models.** How many [golden files](../tests/reference/README.md) hold the scheme, in a whole transformer
  and with all gradients, against a model that was written from the formula with NumPy or PyTorch.
- **Published code.** Which implementations of others gave the same numbers
  ([how](../tests/published/README.md)). Where none is named, there was none to run.

`poslab check NAME` says how well a scheme passes the laws that every scheme is held to.

EOF
# The groups are those of encodings/all.cpp: a comment, and the declarations of its schemes.
groups() {
  sed -n '/^\/\/ The only list/d; /^std::vector/q; s/^\/\/ /group /p; /();/p; /(),$/p' encodings/all.cpp |
    sed 's/\(^\| \)Scheme / /g; s/()[,;]/ /g'
}
{
  groups | while read -r first rest; do
    if [[ $first == group ]]; then printf '\n- **%s**:' "${rest^}"
    else for one in $first $rest; do printf ' [%s](#%s)' "$one" "$one"; done; fi
  done
  echo
} | fold -s -w 116 | sed 's/ *$//; /./!d; /^- /!s/^/  /'
printf -- '- [**Samplers**](#samplers), [**temperature policies**](#temperature-policies)\n'
printf '\nTimes of steps: %s.\n' "$(sed -n 's/^# //p' $costs | joined ', ')"
groups | while read -r first rest; do
  if [[ $first == group ]]; then printf '\n## %s\n' "${rest^}"
  else for one in $first $rest; do entry "$one"; done; fi
done
printf '\n## Samplers\n' && table sampler
printf '\n## Temperature policies\n' && table temperature
