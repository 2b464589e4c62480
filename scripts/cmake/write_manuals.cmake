# Writes the manual pages and the completions below FOLDER, as they lie below share/: asks the built
# COMMAND for them.
#
# cmake -DCOMMAND=bin/vramscope -DFOLDER=share -P write_manuals.cmake
function(write path)
  execute_process(COMMAND ${COMMAND} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${FOLDER}/${path} "${text}")
endfunction()

file(REMOVE_RECURSE ${FOLDER})
write(bash-completion/completions/vramscope completion bash)
write(zsh/site-functions/_vramscope completion zsh)
write(fish/vendor_completions.d/vramscope.fish completion fish)
# Shells look for a program's completion under its name.
file(CREATE_LINK vramscope ${FOLDER}/bash-completion/completions/vramscope-memcheck SYMBOLIC)
file(CREATE_LINK vramscope.fish ${FOLDER}/fish/vendor_completions.d/vramscope-memcheck.fish SYMBOLIC)
write(man/man1/vramscope.1 manual)
file(STRINGS ${FOLDER}/man/man1/vramscope.1 entries REGEX "vramscope\\\\-[a-z]+\\\\fR\\(1\\)")
foreach(entry IN LISTS entries)
  string(REGEX REPLACE ".*vramscope\\\\-([a-z]+).*" "\\1" name "${entry}")
  write(man/man1/vramscope-${name}.1 manual ${name})
endforeach()
