# Completion of poslab for bash:  source <(poslab completion bash)
_poslab() {
  local IFS=$'\n' tab=$'\t'
  COMPREPLY=($("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
  COMPREPLY=("${COMPREPLY[@]%%$tab*}")
  [[ ${COMPREPLY[*]} ]] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -o bashdefault -F _poslab poslab
