// Writes small WARC files for tests, record by record.
import { createHash, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";

// pages: [{url, date, status, headers: {name: value}, body}]; dates in ISO 8601.
export function writeWarc(path, pages) {
  const records = pages.map(({ url, date, status = "200 OK", headers = {}, body = "" }) => {
    const payload = Buffer.from(body);
    const lines = Object.entries({
      "Content-Type": "text/html; charset=utf-8",
      ...headers,
    }).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
    const head = Buffer.from(
      `HTTP/1.1 ${status}\r\n${lines.join("\r\n")}\r\nContent-Length: ${payload.length}\r\n\r\n`,
    );
    const block = Buffer.concat([head, payload]);
    const digest = createHash("sha256").update(payload).digest("hex");
    const fields = [
      "WARC/1.1",
      "WARC-Type: response",
      `WARC-Record-ID: <urn:uuid:${randomUUID()}>`,
      `WARC-Date: ${date}`,
      `WARC-Target-URI: ${url}`,
      `WARC-Payload-Digest: sha256:${digest}`,
      "Content-Type: application/http; msgtype=response",
      `Content-Length: ${block.length}`,
    ];
    return Buffer.concat([
      Buffer.from(`${fields.join("\r\n")}\r\n\r\n`),
      block,
      Buffer.from("\r\n\r\n"),
    ]);
  });
  writeFileSync(path, Buffer.concat(records));
}
