# Writes version and commit to OUT, and only if they have changed. Every build runs this, so that results name the right
# commit.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE none)
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
if(NOT EXISTS ${SOURCE}/.git AND EXISTS ${SOURCE}/.bundle/commit)     # of tools/bundle
  file(STRINGS ${SOURCE}/.bundle/commit commit)
elseif(none)
  set(commit "unknown")
elseif(changes)
  string(APPEND commit " with changes")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define POSLAB_VERSION \"${VERSION}\"\n#define POSLAB_COMMIT \"${commit}\"\n")
