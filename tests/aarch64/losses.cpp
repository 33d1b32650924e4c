// Prints the losses of the spine's first steps, with all digits; tests/aarch64/run.sh compares two processors by them.
#define main spine   // the program of docs/spine.md, for its training step
#pragma GCC diagnostic ignored "-Wreturn-type"   // spine() returns nothing, as main may
#include "examples/rope.cpp"
#undef main
#include <cstdio>

int main() {
  const Task task = completed(bucket_sort());
  const Scheme scheme = rope();
  TransformerSpec spec{.symbols_in = task.symbols_in + 1, .symbols_out = task.symbols_out, .layers = 3};
  spec.encoding = {scheme, Choices(scheme.name, scheme.options)};
  Params params(seed);
  const Transformer net(params, spec);
  params.pack(Device::cpu);
  Adam adam(params, 3e-4);
  while (adam.step < 5) {
    const uint64_t step = uint64_t(adam.step);
    const Batch batch = make_batch(task, 4, 10, stream(seed, Purpose::tokens, step));
    std::printf("rope %d %.9g\n", int(step), double(train_step(net, params, adam, batch).loss.item()));
  }
}
