mercer; echo "exit $?"
mercer --version; echo "exit $?"
mercer help; echo "exit $?"
mercer help prove; echo "exit $?"
mercer fit --help | head -n 1
mercer fit -h | grep -e --lambda
for verb in fit predict score update prove gram path plan show generate info; do
  mercer $verb --help | head -n 1
  mercer $verb --help | awk 'length > 140 { print "a line too long:", $0 }'
done
