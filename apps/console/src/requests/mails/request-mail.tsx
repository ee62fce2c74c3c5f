/**
 * The e-mail with the link of a payment request. It contains no image and no address but the link, so the sender does not
 * learn when it is read. Programs for e-mails ignore style sheets, so each element has its own style.
 */
import { type Mail, toMailLine } from '@svc/mail';
import { renderToString } from 'preact-render-to-string';
import type { Texts } from '../../languages/en/en.js';
import { fill } from '../../languages/fill.js';
import { formatAmount } from '../../languages/format.js';

/** The content of the mail. It is stored until the mail is sent. */
export interface RequestMailContent {
  readonly merchantName: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
  /** Empty if there is none. */
  readonly orderReference: string;
  /** The last of the merchant's days on which the request can be paid. */
  readonly lastDay: string;
  readonly isTest: boolean;
  readonly link: string;
}

export function buildRequestMail(to: string, content: RequestMailContent, texts: Texts): Mail {
  const { requestMail } = texts;
  const merchant = content.merchantName;
  const amount = formatAmount(content.amount, content.currency, texts);
  const subject = fill(requestMail.subject, { merchant, amount });
  const lines = [
    [requestMail.amount, amount],
    [requestMail.description, content.description],
    ...(content.orderReference === '' ? [] : [[requestMail.order, content.orderReference]]),
    [requestMail.until, content.lastDay],
  ] as const;
  const intro = content.isTest ? [requestMail.test] : [];
  const heading = fill(requestMail.heading, { merchant, amount });
  return {
    to,
    language: texts.tag,
    subject: toMailLine(content.isTest ? `${requestMail.testMark} ${subject}` : subject),
    senderName: toMailLine(merchant),
    text: [
      heading,
      ...intro,
      lines.map(([label, value]) => `${label}: ${value}`).join('\n'),
      `${requestMail.pay}: ${content.link}`,
      fill(requestMail.reason, { merchant }),
    ].join('\n\n'),
    html: `<!doctype html>${renderToString(
      <MailDocument {...{ texts, content, heading, intro, lines, reason: fill(requestMail.reason, { merchant }) }} />,
    )}`,
  };
}

const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif';
const QUIET = 'color:#535c6a;font-size:13px;line-height:1.5';

interface MailParts {
  readonly texts: Texts;
  readonly content: RequestMailContent;
  readonly heading: string;
  readonly intro: readonly string[];
  readonly lines: readonly (readonly string[])[];
  readonly reason: string;
}

function MailDocument({ texts, content, heading, intro, lines, reason }: MailParts) {
  return (
    <html lang={texts.tag}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{heading}</title>
      </head>
      <body style={`margin:0;padding:24px 12px;background:#eef0f3;color:#14181f;${FONT}`}>
        <div role="main" style="max-width:30rem;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px">
          <h1 style="margin:0 0 12px;font-size:20px;line-height:1.3">
            <bdi>{heading}</bdi>
          </h1>
          {intro.map((text) => (
            <p style="margin:0 0 12px;font-weight:600">{text}</p>
          ))}
          <table role="presentation" style="width:100%;border-collapse:collapse;font-size:15px;line-height:1.5">
            {lines.map(([label, value]) => (
              <tr>
                <td style="padding:6px 12px 6px 0;color:#535c6a;vertical-align:top">{label}</td>
                <td style="padding:6px 0;text-align:right;overflow-wrap:anywhere">
                  <bdi>{value}</bdi>
                </td>
              </tr>
            ))}
          </table>
          <p style="margin:20px 0">
            <a
              href={content.link}
              style="display:inline-block;padding:12px 24px;border-radius:8px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none"
            >
              {texts.requestMail.pay}
            </a>
          </p>
          <p style={`margin:0 0 12px;overflow-wrap:anywhere;${QUIET}`}>{content.link}</p>
          <p style={`margin:0;${QUIET}`}>{reason}</p>
        </div>
      </body>
    </html>
  );
}
