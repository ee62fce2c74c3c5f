import { type FieldProblem, merchantUrlProblem, type MerchantUrlRules } from '@svc/kernel';
import { checkUrl } from './address-guard.js';

/**
 * The problem of an address that the platform is to call, or undefined: that of {@link merchantUrlProblem}, or a refusal of
 * {@link checkUrl}. The merchant gets the error when the address is set, not after all attempts have failed. The addresses of a
 * name are checked at each call.
 */
export function calledUrlProblem(field: string, text: string, rules: MerchantUrlRules): FieldProblem | undefined {
  const problem = merchantUrlProblem(field, text, rules);
  if (problem) return problem;
  const { refused } = checkUrl(text, { allowLoopback: rules.allowLoopbackHttp });
  return (
    refused && {
      field,
      message: `${field} must be an address on the internet: nothing is sent to this one (${refused})`,
    }
  );
}
