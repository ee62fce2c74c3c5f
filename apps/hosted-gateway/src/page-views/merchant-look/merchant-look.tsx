/** The parts of a page that a merchant's look adds. Pages of other merchants contain none of them. */
import type { Messages } from '../../languages/en.js';
import { fill } from '../../languages/fill.js';
import type { PageLogo, PageLook } from './page-look.js';

/**
 * The size is in the document, so that nothing moves when the image has loaded.
 *
 * @param name the text alternative, empty if the name is beside the logo
 */
export function MerchantLogo({ logo, name }: { logo: PageLogo; name: string }) {
  return <img class="logo" src={logo.path} alt={name} width={logo.width} height={logo.height} />;
}

/** Whether a logo is so wide that it probably has the merchant's name in letters. A narrower one is only a sign. */
export function hasName({ width, height }: PageLogo): boolean {
  return width > 2 * height;
}

/** How the payer reaches the merchant, and the merchant's terms. */
export function MerchantContact({
  look,
  name,
  texts,
}: {
  look: PageLook;
  name: string;
  texts: Messages['merchantContact'];
}) {
  const { supportEmail, supportPhone, supportUrl, termsUrl } = look;
  const hasSupport = supportEmail !== undefined || supportPhone !== undefined || supportUrl !== undefined;
  if (!hasSupport && termsUrl === undefined) return null;
  return (
    <p class="contact">
      {hasSupport ? <bdi>{fill(texts.questions, { merchant: name })}</bdi> : null}
      {supportEmail === undefined ? null : <a href={buildMailLink(supportEmail)}>{supportEmail}</a>}
      {supportPhone === undefined ? null : <a href={`tel:${supportPhone.replace(/[^+\d]/g, '')}`}>{supportPhone}</a>}
      {supportUrl === undefined ? null : <a href={supportUrl}>{texts.helpPage}</a>}
      {termsUrl === undefined ? null : <a href={termsUrl}>{texts.terms}</a>}
    </p>
  );
}

/** A local part may contain characters that would begin the query of the link. */
export function buildMailLink(address: string): string {
  return `mailto:${encodeURIComponent(address).replace('%40', '@')}`;
}
