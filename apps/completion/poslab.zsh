#compdef poslab
# Completion of poslab for zsh:  source <(poslab completion zsh), or as _poslab in $fpath
(( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
_poslab() {
  local line tab=$'\t'
  local -a candidates shown
  for line in "${(@f)$("$words[1]" complete "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] || continue
    candidates+=("${line%%$tab*}") shown+=("${line/$tab/  }")
  done
  if (( $#candidates )); then compadd -l -d shown -- "${candidates[@]}"; else _files; fi
}
# If this file is in $fpath, zsh runs it at the first completion, which needs an answer at once.
if [[ ${funcstack[1]} == _poslab ]]; then _poslab; else compdef _poslab poslab; fi
