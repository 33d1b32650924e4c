# Debian's clang for WebAssembly with the system interface WASI. Its C++ library has no threads and no runtime for
# exceptions; core/platform/exceptions_wasm.cpp replaces that runtime.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_CXX_FLAGS_INIT
  "-fwasm-exceptions -msimd128 -mbulk-memory -mnontrapping-fptoint -Xclang -fmerge-functions")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=1048576,--stack-first")
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)
