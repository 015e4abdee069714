// Writes small WARC files for tests, record by record.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";

const record = (fields, block) =>
  Buffer.concat([
    Buffer.from(`WARC/1.1\r\n${fields.join("\r\n")}\r\n`),
    Buffer.from(`Content-Length: ${block.length}\r\n\r\n`),
    block,
    Buffer.from("\r\n\r\n"),
  ]);

// pages: [{url, date, status, headers: {name: value}, body, post: {type, body}}]; dates in ISO
// 8601. A page with `post` is the answer to such a request.
export function writeWarc(path, pages) {
  const records = pages.map(({ url, date, status = "200 OK", headers = {}, body = "", post }) => {
    const payload = Buffer.from(body);
    const lines = Object.entries({
      "Content-Type": "text/html; charset=utf-8",
      ...headers,
    }).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
    const head = Buffer.from(
      `HTTP/1.1 ${status}\r\n${lines.join("\r\n")}\r\nContent-Length: ${payload.length}\r\n\r\n`,
    );
    const block = Buffer.concat([head, payload]);
    const id = `<urn:uuid:${randomUUID()}>`;
    const response = record(
      [
        "WARC-Type: response",
        `WARC-Record-ID: ${id}`,
        `WARC-Date: ${date}`,
        `WARC-Target-URI: ${url}`,
        "Content-Type: application/http; msgtype=response",
      ],
      block,
    );
    if (!post) return response;
    const { host, pathname, search } = new URL(url);
    const request = record(
      [
        "WARC-Type: request",
        `WARC-Record-ID: <urn:uuid:${randomUUID()}>`,
        `WARC-Date: ${date}`,
        `WARC-Target-URI: ${url}`,
        `WARC-Concurrent-To: ${id}`,
        "Content-Type: application/http; msgtype=request",
      ],
      Buffer.from(
        `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${post.type}\r\n` +
          `Content-Length: ${Buffer.byteLength(post.body)}\r\n\r\n${post.body}`,
      ),
    );
    return Buffer.concat([response, request]);
  });
  writeFileSync(path, Buffer.concat(records));
}
