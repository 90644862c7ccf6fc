# Reads "+ GROUP" and "- GROUP" lines until its stdin ends. That is the end of the process that started it,
# however it came: a crash and kill -9 end a pipe too. A group of processes that is left then gets two
# seconds to end by itself, SIGTERM, two seconds more, and SIGKILL.

groups=""
while read -r sign group; do
    others=""
    for other in $groups; do [ "$other" = "$group" ] || others="$others $other"; done
    groups=$others
    [ "$sign" = "+" ] && groups="$groups $group"
done

signal_all() { # a group that has ended is dropped: its number may soon be somebody else's
    left=""
    for group in $groups; do kill -s "$1" -- "-$group" && left="$left $group"; done
    groups=$left
    [ "$groups" ] || exit 0
}

signal_all 0
for signal in TERM KILL; do
    for tick in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; signal_all 0; done
    signal_all $signal
done
