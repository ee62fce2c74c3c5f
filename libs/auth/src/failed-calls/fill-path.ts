import { isNumericId, isUuid, parsePaymentReference } from '@svc/kernel';

const NUMERIC_IDS: readonly string[] = ['merchantId', 'siteId'];

/**
 * Fills the ids of the merchant and the site, UUIDs and payment references into the template of a path. Any other value may
 * be personal data, such as an order number with a name or a phone number, so its parameter keeps its name.
 */
export function fillPath(template: string, params: Readonly<Record<string, string | undefined>>): string {
  return template.replace(/:(\w+)/g, (parameter, name: string) => {
    const value = params[name];
    return value !== undefined && isHarmless(name, value) ? value : parameter;
  });
}

function isHarmless(name: string, value: string): boolean {
  return (
    (NUMERIC_IDS.includes(name) && isNumericId(value)) || isUuid(value) || parsePaymentReference(value) !== undefined
  );
}
