// cuda/driver.h by the CUDA runtime. Leaves out: several GPUs (the first that CUDA_VISIBLE_DEVICES shows is used).
#include "cuda/driver.h"

#include <cstdlib>
#include <mutex>
#include <string>

#include "core/error.h"
#include "cuda/queue.h"

namespace poslab::cuda {
namespace {

struct Stream { cudaStream_t at = nullptr; };
std::string the_name;
bool tensor_cores = false;
int bytes_of_block = 0;

}  // namespace

cudaStream_t stream() { return of_this_queue<Stream>().at; }

void check(cudaError_t e, const char* doing) {
  if (e == cudaErrorNoKernelImageForDevice)
    bad_input("device cuda: this build has no kernels for the GPU here, {}; build poslab on this machine (./dev build "
              "cuda native), or use --device cpu", the_name);
  if (e != cudaSuccess) failure("cuda: {} failed: {} ({})", doing, cudaGetErrorString(e), cudaGetErrorName(e));
}

namespace {

void find_gpu() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);       // loading a kernel may synchronize, which a capture forbids
  // Hardware connections: if there are fewer than streams (the default is 8), work of one stream could wait for
  // another's.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(max_own_queues).c_str(), 0);
  int version = 0, devices = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0)
    bad_input("device cuda: this machine has no NVIDIA driver; install one, or use --device cpu");
  if (const cudaError_t e = cudaGetDeviceCount(&devices); e != cudaSuccess || devices == 0)
    bad_input("device cuda: no GPU that this program can use ({}); the driver supports CUDA {}.{}, this build has CUDA "
              "{}.{}; use --device cpu",
              cudaGetErrorString(e), version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
              CUDART_VERSION % 1000 / 10);
  cudaDeviceProp about{};
  check(cudaGetDeviceProperties(&about, 0), "asking for the GPU's properties");
  tensor_cores = about.major >= 8, bytes_of_block = int(about.sharedMemPerBlockOptin);
  the_name = fmt::format("{}, compute capability {}.{}", about.name, about.major, about.minor);
}

}  // namespace

namespace driver {

// Every thread begins with the first device, so none has to choose it.
void start() {
  if (stream()) return;
  name();
  check(cudaStreamCreateWithFlags(&of_this_queue<Stream>().at, cudaStreamNonBlocking), "making a stream");
}
bool has_tensor_cores() { return tensor_cores; }
int shared_memory() { return bytes_of_block; }
std::string name() {
  static std::once_flag once;
  std::call_once(once, find_gpu);                  // after an exception the next call tries again
  return the_name;
}

double free_bytes() {
  size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all), "asking for the GPU's free memory");
  return double(free);
}

double peak_flops() {
  int major = 0, minor = 0, processors = 0, kilohertz = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "asking for the GPU's properties");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "asking for the GPU's properties");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "asking for the GPU's properties");
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "asking for the GPU's properties");
  const bool half = (major == 7 && minor == 5) || (major == 8 && minor == 0);   // these have 64 float lanes, others 128
  return 2. * (half ? 64 : 128) * processors * kilohertz * 1e3;
}

void* device_memory(size_t bytes) {
  void* at = nullptr;
  if (cudaMalloc(&at, bytes) == cudaSuccess) return at;
  cudaGetLastError();              // the caller handles it; the next call must not report it again
  return nullptr;
}
void* pinned_memory(size_t bytes) {
  void* at = nullptr;
  check(cudaMallocHost(&at, bytes), "allocating pinned memory");
  return at;
}

void to_device(void* to, const void* pinned, size_t bytes) {
  check(cudaMemcpyAsync(to, pinned, bytes, cudaMemcpyHostToDevice, stream()), "copying to the GPU");
}
void to_host(void* pinned, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(pinned, from, bytes, cudaMemcpyDeviceToHost, stream()), "copying from the GPU");
}
void wait() { check(cudaStreamSynchronize(stream()), "a kernel"); }

Mark mark() {
  cudaEvent_t event;
  // A thread that trains alongside others sleeps while it waits: there may be more such threads than cores.
  const unsigned sleeps = queue_number() ? cudaEventBlockingSync : 0;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | sleeps), "making an event");
  check(cudaEventRecord(event, stream()), "recording an event");
  return {event, [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); }};
}
void wait_for(const Mark& m) { check(cudaEventSynchronize(static_cast<cudaEvent_t>(m.get())), "a kernel"); }

// Relaxed: the recording goes on while any thread starts work on other streams or allocates memory.
void begin_recording() { check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed), "recording a step"); }

Recorded end_recording() {
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream(), &graph), "recording a step");
  cudaGraphExec_t whole;
  const cudaError_t made = cudaGraphInstantiate(&whole, graph, 0);
  cudaGraphDestroy(graph);
  check(made, "making a graph of a step");
  return {whole, [](void* g) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g)); }};
}

void abandon_recording() {
  cudaGraph_t graph;
  if (cudaStreamEndCapture(stream(), &graph) == cudaSuccess && graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void replay(const Recorded& r) {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(r.get()), stream()), "replaying a step");
}

}  // namespace driver
}  // namespace poslab::cuda
