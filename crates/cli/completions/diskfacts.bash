# Completion of diskfacts for bash.
_diskfacts() {
    # Words are taken from the line itself: bash splits them at : and =, too.
    local line=${COMP_LINE:0:COMP_POINT} words=() current kept candidate
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    # Only what stands behind the last of these is replaced by bash.
    kept=${current%"${current##*[:=]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        COMPREPLY+=("${candidate#"$kept"}")
    done < <("${words[0]}" completion-candidates "${words[@]:1}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace
    return 0
}
# Where diskfacts knows nothing, it is a path.
complete -o default -o nosort -F _diskfacts diskfacts
