import encodeQR from 'qr';

/** Light modules around the code, which scanners need to find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/**
 * A QR code as an image that any size fits. Error correction M: a screen is clean, and what a higher level needs makes
 * each module smaller, which is what a phone at a till struggles with. Black on white whatever the page's theme is.
 *
 * @param label what a screen reader says of it; plain words, they are written as they are
 */
export function qrSvg(text: string, label = 'QR code'): string {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE });
  const size = modules.length;
  const path = modules.map(rowPath).join('');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>\n`
  );
}

/** One rectangle for each run of dark modules. */
function rowPath(row: readonly boolean[], y: number): string {
  let path = '';
  for (let x = 0; x < row.length; x++) {
    if (!row[x]) continue;
    const start = x;
    while (row[x]) x++;
    path += `M${start} ${y}h${x - start}v1h-${x - start}z`;
  }
  return path;
}
