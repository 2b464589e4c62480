# The CUDA toolkit, wherever find_nvcc of scripts/toolchain.sh finds it: where the user has one, or
# what was unpacked.
#
# vramscope_cuda_program(NAME SOURCES... [CUDART shared|static|none] [LIBRARIES ...] [FLAGS ...])
#   builds bin/programs/NAME with nvcc, as a user would: host code with -O2 -g -lineinfo.
if(NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
  execute_process(COMMAND bash -c "source scripts/toolchain.sh && use_toolchain && echo \"$CUDAToolkit_ROOT\""
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE CUDAToolkit_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(CUDAToolkit 11.8)
if(NOT CUDAToolkit_FOUND)
  message(FATAL_ERROR "No CUDA toolkit (11.8 or newer). Run ./scripts/setup, or set CUDA_HOME to yours.")
endif()

# Headers of other toolkits, which scripts/cuda-headers fetches.
set(VRAMSCOPE_CUDA_HEADERS $ENV{VRAMSCOPE_CUDA_HEADERS})
if(NOT VRAMSCOPE_CUDA_HEADERS)
  set(cache $ENV{XDG_CACHE_HOME})
  if(NOT cache)
    set(cache $ENV{HOME}/.cache)
  endif()
  set(VRAMSCOPE_CUDA_HEADERS ${cache}/vramscope/cuda-headers)
endif()

function(vramscope_cuda_program name)
  cmake_parse_arguments(arg "" "CUDART" "SOURCES;LIBRARIES;FLAGS;DEPENDS" ${ARGN})
  if(NOT arg_CUDART)
    set(arg_CUDART shared)
  endif()
  set(output ${CMAKE_BINARY_DIR}/bin/programs/${name})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin/programs
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -O2 -g -lineinfo -arch=sm_75 -cudart ${arg_CUDART}
            -I${PROJECT_SOURCE_DIR} ${arg_FLAGS} ${arg_SOURCES} -o ${output} ${arg_LIBRARIES}
    DEPENDS ${arg_SOURCES} ${arg_DEPENDS}
    COMMENT "nvcc ${name} (-cudart ${arg_CUDART})"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${output})
endfunction()
