// Writes docs/refusal-reasons.md from the table of the adapter for Adyen: node tools/docs/refusal-reasons-page.ts. A spec fails
// when the page is stale.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFUSAL_REASONS } from '../../apps/payment-processor/src/acquirers/adyen/refusal-reasons.ts';
import { ERROR_CATALOGUE } from '../../libs/contracts/src/errors.ts';

export const REFUSAL_REASONS_PAGE = join(import.meta.dirname, '../../docs/refusal-reasons.md');

export function formatRefusalReasonsPage(): string {
  const rows = Object.entries(REFUSAL_REASONS).map(([code, { text, declineCode, isFinal }]) => {
    const { errorReference, message } = ERROR_CATALOGUE[declineCode];
    const anchor = declineCode.replaceAll('.', '');
    return `| ${code} | ${text} | ${errorReference} | [\`${declineCode}\`](errors.md#${anchor}) | ${message} | ${isFinal ? 'no' : 'yes'} |`;
  });
  return `# Refusal reasons of Adyen

Generated from \`apps/payment-processor/src/acquirers/adyen/refusal-reasons.ts\` by \`node tools/docs/refusal-reasons-page.ts\`. Adyen
publishes the codes and their texts on its page [Refusal reasons](https://docs.adyen.com/development-resources/refusal-reasons). A test
compares this table with that list.

Merchants, partners and payers get our error. Adyen's code and text, and the raw reason of the issuer, are only for operators: they are in the
log of payment-processor, in the line "Adyen refused a charge". A code that is not in the table is found by its text, otherwise it is
[\`card.declined\`](errors.md#carddeclined). "Same card": a further payment with this card can succeed. It is \`mayRetry\` in the log.

| Adyen's code | Adyen's text | Error | Our code | Message | Same card |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.main) writeFileSync(REFUSAL_REASONS_PAGE, formatRefusalReasonsPage());
