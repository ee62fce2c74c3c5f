import encodeQR from 'qr';

/** Light modules around the code, which scanners need to find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/**
 * A QR code as an SVG image. The error correction level is M: a higher level would make each module smaller and harder
 * to scan, and a screen does not need a higher level. The code is always black on white, because scanners need this
 * contrast.
 *
 * @param label text for screen readers. It is not escaped, so it must not contain markup.
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

/** The path of one row: a rectangle for each group of adjacent dark modules. */
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
