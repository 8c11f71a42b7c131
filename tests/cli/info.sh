mercer info --threads 2 --memory 1G | sed 's/^BLAS .*/BLAS/; s/^instructions .*/instructions/; /^cards /d'; echo "exit $?"
mercer info --json | python3 -c 'import json, sys; print(sorted(set(json.load(sys.stdin)) - {"cards_found", "no_cards"}))'
MERCER_ISA=portable mercer info | grep instructions
MERCER_ISA=sse9 mercer info; echo "exit $?"
