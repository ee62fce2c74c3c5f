/**
 * The receipt as an e-mail. It has the same facts and basket as the receipt on the page, and never more of the card than its last
 * four digits. Programs for e-mails ignore style sheets, so each element has its own style.
 */
import { type Mail, MAX_MAIL_BYTES, toMailLine } from '@svc/mail';
import { renderToString } from 'preact-render-to-string';
import { fill } from '../languages/fill.js';
import { formatAmount, formatTime } from '../languages/format-amount.js';
import type { Language } from '../languages/languages.js';
import {
  type BasketLineRow,
  type BasketTotalRow,
  buildLineRow,
  buildTotalRows,
  countItems,
} from '../page-views/basket/basket-rows.js';
import { buildMailLink, hasName } from '../page-views/merchant-look/merchant-look.js';
import type { PaidPage } from '../page-views/pay-page-model.js';

export interface Receipt {
  readonly page: PaidPage;
  readonly language: Language;
  /** The role of the person who typed the address, which the mail names. */
  readonly sender: 'payer' | 'merchant';
  /** Base URL of the gateway, for the logo. */
  readonly gatewayUrl: string;
}

interface Line {
  readonly label: string;
  readonly value: string;
}

/** A basket that would make the mail too large is shown by its number of lines and its totals. */
export function buildReceiptMail(to: string, receipt: Receipt): Mail {
  const mail = buildMail(to, receipt, buildBasket(receipt));
  if (Buffer.byteLength(mail.text) + Buffer.byteLength(mail.html) <= MAX_MAIL_BYTES) return mail;
  return buildMail(to, receipt, buildBasket(receipt, { isShort: true }));
}

function buildMail(to: string, receipt: Receipt, basket: Basket | undefined): Mail {
  const { page, language, sender } = receipt;
  const { receiptMail } = language.messages;
  const merchant = page.merchantName;
  const content = {
    heading: fill(receiptMail.heading, { merchant }),
    intro: page.isTest === true ? language.messages.page.test : undefined,
    lines: buildLines(receipt),
    basket,
    contact: buildContact(receipt),
    reason: sender === 'payer' ? receiptMail.reason : fill(receiptMail.reasonMerchant, { merchant }),
  };
  return {
    to,
    language: language.tag,
    subject: toMailLine(fill(receiptMail.subject, { merchant, amount: content.lines[0]!.value })),
    senderName: toMailLine(merchant),
    replyTo: page.look?.supportEmail,
    text: renderText(content),
    html: `<!doctype html>${renderToString(<ReceiptDocument content={content} receipt={receipt} />)}`,
  };
}

interface Content {
  readonly heading: string;
  readonly intro: string | undefined;
  readonly lines: readonly Line[];
  readonly basket: Basket | undefined;
  readonly contact: Contact | undefined;
  readonly reason: string;
}

interface Basket {
  readonly heading: string;
  readonly lines: readonly BasketLineRow[];
  readonly totals: readonly BasketTotalRow[];
}

interface Contact {
  readonly question: string;
  readonly links: readonly { readonly text: string; readonly url: string }[];
}

function buildLines({ page, language }: Receipt): Line[] {
  const { paid, page: texts, format } = language.messages;
  const { merchantOrderId, paymentReference, charge } = page;
  return [
    { label: paid.amount, value: formatAmount(page.amountCents, page.currencyISOCode, format) },
    ...(charge?.cardLabel === undefined ? [] : [{ label: paid.card, value: charge.cardLabel }]),
    ...(charge === undefined ? [] : [{ label: paid.date, value: formatTime(charge.at, format, charge.timeZone) }]),
    ...(merchantOrderId === undefined ? [] : [{ label: texts.order, value: merchantOrderId }]),
    ...(paymentReference === undefined ? [] : [{ label: paid.reference, value: paymentReference }]),
  ];
}

function buildBasket(
  { page: { basket, currencyISOCode }, language: { messages } }: Receipt,
  { isShort = false } = {},
): Basket | undefined {
  if (basket === undefined) return undefined;
  const { yourOrder, items } = messages.page;
  return {
    heading: isShort ? `${yourOrder}: ${fill(items, { count: countItems(basket.lines) })}` : yourOrder,
    lines: isShort ? [] : basket.lines.map((line) => buildLineRow(line, currencyISOCode, messages)),
    totals: buildTotalRows(basket, currencyISOCode, messages),
  };
}

function buildContact({ page: { look, merchantName }, language }: Receipt): Contact | undefined {
  const { supportEmail, supportPhone, supportUrl, termsUrl } = look ?? {};
  const { merchantContact } = language.messages;
  const links = [
    supportEmail === undefined ? undefined : { text: supportEmail, url: buildMailLink(supportEmail) },
    supportPhone === undefined ? undefined : { text: supportPhone, url: `tel:${supportPhone.replace(/[^+\d]/g, '')}` },
    supportUrl === undefined ? undefined : { text: merchantContact.helpPage, url: supportUrl },
    termsUrl === undefined ? undefined : { text: merchantContact.terms, url: termsUrl },
  ].filter((link) => link !== undefined);
  return links.length === 0
    ? undefined
    : { question: fill(merchantContact.questions, { merchant: merchantName }), links };
}

function renderText({ heading, intro, lines, basket, contact, reason }: Content): string {
  return [
    heading,
    ...(intro === undefined ? [] : [intro]),
    lines.map(({ label, value }) => `${label}: ${value}`).join('\n'),
    ...(basket === undefined
      ? []
      : [
          [
            basket.heading,
            ...basket.lines.map(({ label, quantity, amount }) =>
              quantity === undefined
                ? `${label}: ${amount}`
                : `${label}, ${quantity.count} × ${quantity.unitPrice}: ${amount}`,
            ),
            ...basket.totals.map(({ label, amount }) => `${label}: ${amount}`),
          ].join('\n'),
        ]),
    ...(contact === undefined
      ? []
      : [
          [
            contact.question,
            ...contact.links.map(({ text, url }) => (url.startsWith('https:') ? `${text}: ${url}` : text)),
          ].join('\n'),
        ]),
    reason,
  ].join('\n\n');
}

const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif';
const QUIET = 'color:#535c6a;font-size:13px;line-height:1.5';

function ReceiptDocument({ content, receipt: { page, language, gatewayUrl } }: { content: Content; receipt: Receipt }) {
  const { heading, intro, lines, basket, contact, reason } = content;
  const { logo, accent = { background: '#1b4fc4', text: '#ffffff' } } = page.look ?? {};
  return (
    <html lang={language.tag} dir={language.direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{heading}</title>
      </head>
      <body style={`margin:0;padding:24px 12px;background:#eef0f3;color:#14181f;${FONT}`}>
        <div role="main" style="max-width:30rem;margin:0 auto;background:#ffffff;border-radius:12px;overflow:hidden">
          <div style={`padding:16px 24px;background:${accent.background};color:${accent.text};font-weight:600`}>
            {logo === undefined ? null : (
              <img
                src={`${gatewayUrl}${logo.path}`}
                alt={hasName(logo) ? page.merchantName : ''}
                width={logo.width}
                height={logo.height}
                style="padding:4px;border-radius:6px;background:#ffffff;color:#14181f;vertical-align:middle"
              />
            )}
            {logo !== undefined && hasName(logo) ? null : (
              <bdi style={logo === undefined ? undefined : 'padding-left:8px'}>{page.merchantName}</bdi>
            )}
          </div>
          <div style="padding:24px">
            <h1 style="margin:0 0 12px;font-size:20px;line-height:1.3">
              <bdi>{heading}</bdi>
            </h1>
            {intro === undefined ? null : <p style="margin:0 0 12px;font-weight:600">{intro}</p>}
            <table role="presentation" style="width:100%;border-collapse:collapse;font-size:15px;line-height:1.5">
              {lines.map(({ label, value }) => (
                <tr>
                  <td style="padding:6px 12px 6px 0;color:#535c6a;vertical-align:top">{label}</td>
                  <td style="padding:6px 0;text-align:right;overflow-wrap:anywhere">
                    <bdi>{value}</bdi>
                  </td>
                </tr>
              ))}
            </table>
            {basket === undefined ? null : <BasketTable basket={basket} />}
            {contact === undefined ? null : (
              <p style={`margin:16px 0 0;${QUIET}`}>
                <bdi>{contact.question}</bdi>
                {contact.links.map(({ text, url }) => (
                  <>
                    <br />
                    <a href={url}>{text}</a>
                  </>
                ))}
              </p>
            )}
            <p style={`margin:16px 0 0;${QUIET}`}>{reason}</p>
          </div>
        </div>
      </body>
    </html>
  );
}

function BasketTable({ basket: { heading, lines, totals } }: { basket: Basket }) {
  return (
    <>
      <h2 style="margin:20px 0 4px;font-size:15px;line-height:1.3">{heading}</h2>
      <table role="presentation" style="width:100%;border-collapse:collapse;font-size:15px;line-height:1.5">
        {lines.map(({ label, quantity, amount }) => (
          <tr>
            <td style="padding:6px 12px 6px 0;vertical-align:top;overflow-wrap:anywhere">
              <bdi>{label}</bdi>
              {quantity === undefined ? null : (
                <div style={QUIET}>
                  {quantity.count} × <bdi>{quantity.unitPrice}</bdi>
                </div>
              )}
            </td>
            <AmountCell amount={amount} />
          </tr>
        ))}
        {totals.map(({ label, amount, isTotal }) => (
          <tr style={`border-top:1px solid #dfe3e8${isTotal ? ';font-weight:600' : ''}`}>
            <td style="padding:6px 12px 6px 0;vertical-align:top">{label}</td>
            <AmountCell amount={amount} />
          </tr>
        ))}
      </table>
    </>
  );
}

function AmountCell({ amount }: { amount: string }) {
  return (
    <td style="padding:6px 0;text-align:right;vertical-align:top;white-space:nowrap">
      <bdi>{amount}</bdi>
    </td>
  );
}
