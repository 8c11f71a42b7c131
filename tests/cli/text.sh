awk 'BEGIN { print "n,message,class"; for (i = 0; i < 90; i++) { k = i * 37 % 90; printf "%d,\"%s %d %s\",%s\n", k % 7, i % 3 ? "see you at" : "win a prize,", k, i % 2 ? "home" : "now", i % 3 ? "ham" : "spam" } }' > sms.csv
mercer fit sms.csv -o sms.mercer | grep -e machine -e kernel -e data -e chose -e accuracy
printf 'n,message\n1,win a prize at home\n2,see\n3,see you now\n' | mercer predict sms.mercer - -q
mercer fit sms.csv -m knn -o knn.mercer | grep kernel
mercer plan sms.csv | grep kernel
mercer tune sms.csv --top 0 -o tuned.mercer | grep -e chosen
mercer fit sms.csv -k rbf -o levels.mercer | grep data
cut -d, -f2- sms.csv | tail -n +2 > bare.csv; mercer fit bare.csv -m ridge -o bare.mercer | grep -e kernel -e data
head -41 sms.csv > few.csv; mercer fit few.csv -o few.mercer | grep -e kernel -e data
