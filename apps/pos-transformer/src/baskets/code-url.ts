/**
 * URL of a basket's QR code image. It identifies the basket, not an invoice, so the image always shows the newest code.
 */
export function codeUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/codes/${token}.svg`;
}
