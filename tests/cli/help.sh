mercer; echo "exit $?"
mercer --version; echo "exit $?"
mercer help; echo "exit $?"
mercer help prove; echo "exit $?"
mercer help --completion tcsh; echo "exit $?"
mercer help --completion bash > complete.bash
complete() { :; }; . ./complete.bash; unset -f complete
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mercer; echo "${COMPREPLY[@]}"; }
try mercer p
try mercer fit --lam
try mercer fit -m sv
try mercer fit x.csv --scale s
try mercer help ex
mercer fit --help | head -n 1
mercer fit -h | grep -e --lambda
for verb in fit predict score update prove gram path plan show generate info; do
  mercer $verb --help | head -n 1
  mercer $verb --help | awk 'length > 140 { print "a line too long:", $0 }'
done
