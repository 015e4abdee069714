filedesc://a.arc 0.0.0.0 20140126200624 text/plain 76
1 0 InternetArchive
URL IP-address Archive-date Content-type Archive-length

http://a/1 192.0.2.1 20140126200624 text/plain 21
HTTP/1.0 200 OK

hi
http://a/2 192.0.2.1 20140126200624 text/plain 0

http://a/3 192.0.2.1 20140126200624 text/plain 3
x:y
