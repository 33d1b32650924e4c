// How the engine openblas finds its library: libraries made here replace OpenBLAS, usable ones and ones that must be
// refused. If OpenBLAS is installed, tests/autograd/ops.cpp compares its results with the references.
#include <cstdlib>

#include "lab/runs/run_record.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const char* const library_files[] = {"libopenblas.so.0", "libopenblasp.so.0"};

// A library of three loops, which ends the program if its own threads are still on.
const char* const three_loops = R"(
static int own_threads = 2;
extern "C" {
int openblas_get_parallel() { return FLAVOUR; }
const char* openblas_get_config() { return CONFIG; }
const char* openblas_get_corename() { return "Paper"; }
void openblas_set_num_threads(int n) { own_threads = n; }
void cblas_sgemm(int, int ta, int tb, int m, int n, int k, float alpha, const float* a, int la, const float* b, int lb,
                 float beta, float* c, int lc) {
  if (own_threads != 1) __builtin_trap();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = beta == 0 ? 0 : beta * c[i * lc + j];
      for (int p = 0; p < k; ++p)
        sum += alpha * (ta == 111 ? a[i * la + p] : a[p * la + i]) * (tb == 111 ? b[p * lb + j] : b[j * lb + p]);
      c[i * lc + j] = sum;
    }
}
})";

struct StandIn {                                   // replaces OpenBLAS in the programs it starts
  TemporaryFolder folder;
  std::string before = fmt::format("LD_LIBRARY_PATH='{}'", folder / "lib");
  StandIn() { std::filesystem::create_directories(folder / "lib"); }
  void write(const std::string& text) {
    for (const char* name : library_files) write_file(folder / "lib/" + name, text);
  }
  void compile(int flavour, const std::string& config) {
    write_file(folder / "blas.cpp", three_loops);
    const std::string made = folder / "lib/made";
    REQUIRE(std::system(fmt::format("'{}' -shared -fPIC -DFLAVOUR={} '-DCONFIG=\"{}\"' -o '{}' '{}'", compiler, flavour,
                                    config, made, folder / "blas.cpp").c_str()) == 0);
    write(read_file(made));
  }
  std::string answer(const std::string& words) {
    Program p(folder, words, before);
    return fmt::format("{}: {}", p.status(), p.output());
  }
};

}  // namespace

TEST_CASE("openblas is loaded from its path, its own threads are turned off, and the run records it") {
  StandIn stand;
  stand.compile(1, "OpenBLAS 9.9.9 DYNAMIC_ARCH");
  const std::string run = stand.folder / "run";
  const std::string train = "train" + tiny_options({{"steps", "3"}, {"eval_lengths", "1:3"}}) + " --products openblas";
  CHECK(stand.answer(train + " --threads 2 --out " + run).starts_with("0: "));
  CHECK(read_record(run + "/result.json").products == "openblas: OpenBLAS 9.9.9, core Paper, pthread");
  CHECK(holds(read_file(run + "/config.toml"), "\nproducts = \"openblas\""));
  CHECK(holds(stand.answer("version"),
              "openblas OpenBLAS 9.9.9, core Paper, pthread, own threads off, from libopenblas.so.0\n"));
  stand.before += " POSLAB_PRODUCTS=naive";      // for new runs; this run continues with openblas
  CHECK(holds(stand.answer("version"), "products naive\n"));
  CHECK(stand.answer("eval " + run).starts_with("0: "));
  CHECK(read_record(run + "/result.json").products == "openblas: OpenBLAS 9.9.9, core Paper, pthread");
  CHECK(stand.answer("train" + tiny_options({{"steps", "2"}, {"eval_lengths", "1:3"}}) + " --out " + run + "2")
            .starts_with("0: "));
  CHECK(read_record(run + "2/result.json").products == "naive");
}

TEST_CASE("openblas is refused with a remedy if it is absent, broken, or of a build that threads may not call") {
  StandIn stand;
  const std::string train = "train" + tiny_options({}) + " --products openblas --out " + (stand.folder / "run"),
                    remedy = "; install OpenBLAS (Debian: apt install libopenblas0-pthread), or use --products own\n";
  const auto refused = [&](const std::string& why) {
    const std::string answer = stand.answer(train);
    INFO(answer);
    CHECK(answer.starts_with("2: poslab: --products openblas: "));
    CHECK(holds(answer, why + remedy));
    CHECK(std::count(answer.begin(), answer.end(), '\n') == 1);
    CHECK(!std::filesystem::exists(stand.folder / "run"));
    CHECK(holds(stand.answer("version"), "openblas no (products = openblas: "));
  };
  stand.write("");
  refused("file too short");
  stand.compile(0, "OpenBLAS 9.9.9");
  refused("libopenblas.so.0: it is the serial flavour, which gives wrong numbers when several threads call it");
  stand.compile(2, "OpenBLAS 9.9.9");
  refused("libopenblas.so.0: it is the openmp flavour, which starts threads of its own in each of ours");
  stand.compile(1, "OpenBLAS 9.9.9 USE64BITINT");
  refused("libopenblas.so.0: its integers have 64 bits");
  stand.before += " POSLAB_PRODUCTS=blas";
  CHECK(holds(stand.answer("train" + tiny_options({}) + " --out " + (stand.folder / "run")),
              "2: poslab: POSLAB_PRODUCTS is \"blas\"; give own, openblas or naive\n"));
}
