#compdef diskfacts
# Completion of diskfacts for zsh.
_diskfacts() {
    local candidate about
    local -a values shown
    while IFS=$'\t' read -r candidate about; do
        values+=("$candidate")
        shown+=("$candidate${about:+  -- $about}")
    done < <("${words[1]}" completion-candidates "${(@)words[2,CURRENT]}" 2>/dev/null)
    if ((${#values})); then
        compadd -V diskfacts -l -d shown -a values
    else
        # Where diskfacts knows nothing, it is a path.
        _files
    fi
}
# As a file of $fpath this is run to complete; read by `source` it is made known.
if [[ ${funcstack[1]} == _diskfacts ]]; then
    _diskfacts "$@"
else
    compdef _diskfacts diskfacts
fi
