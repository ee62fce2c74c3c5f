/** Whether an `Accept-Encoding` contains gzip with a quality above 0. */
export function acceptsGzip(header = ''): boolean {
  return header.split(',').some((encoding) => /^\s*(x-)?gzip\s*(;\s*q=(1|0\.\d*[1-9])\S*\s*)?$/i.test(encoding));
}
