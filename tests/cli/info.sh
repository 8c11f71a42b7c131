mercer info --threads 2 --memory 1G | sed 's/^BLAS .*/BLAS/; s/^instructions .*/instructions/'; echo "exit $?"
mercer info --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
MERCER_ISA=portable mercer info | grep instructions
MERCER_ISA=sse9 mercer info; echo "exit $?"
