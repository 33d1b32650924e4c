# Completion of poslab for fish:  poslab completion fish | source
function __poslab_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l found ($program complete $words (commandline -ct) 2> /dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c poslab -e
complete -c poslab -f -a '(__poslab_complete)'
