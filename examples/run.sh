mercer generate friedman1 -n 200 --noise 0.5 --seed 1 -o table.csv -q
$EXAMPLES/example-first table.csv; echo "exit $?"
$EXAMPLES/example-first nothing.csv; echo "exit $?"
$EXAMPLES/example-prove; echo "exit $?"
$EXAMPLES/example-arrays; echo "exit $?"
$EXAMPLES/example-product | sed 's/[0-9.]* MB/few MB/'; echo "exit $?"
$EXAMPLES/example-own_loss; echo "exit $?"
for name in margin band search own_kernel limits; do
  $EXAMPLES/example-$name; echo "exit $?"
done
