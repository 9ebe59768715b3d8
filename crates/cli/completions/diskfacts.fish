# Completion of diskfacts for fish.
function __diskfacts_candidates
    set -l typed (commandline -opc) (commandline -ct)
    set -l found ($typed[1] completion-candidates $typed[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        # Where diskfacts knows nothing, it is a path.
        __fish_complete_path (commandline -ct)
    end
end
complete -c diskfacts -f -k -a '(__diskfacts_candidates)'
