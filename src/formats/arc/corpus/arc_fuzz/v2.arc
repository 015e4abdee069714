http://a/1 192.0.2.1 199701010000 text/html; x 302 abc http://b 209 IA.arc 3
abc
dns:a - 20140126200624 text/dns 9
ab
http://a/1 192.0.2.1 20140126200624 text/plain 21
HTTP/1.0 200 OK

hi
http://a/2 192.0.2.1 20140126200624 text/plain 0

http://a/3 192.0.2.1 20140126200624 text/plain 3
x:y
garbage