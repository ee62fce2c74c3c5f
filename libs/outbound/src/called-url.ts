import { type FieldProblem, merchantUrlProblem, type MerchantUrlRules } from '@svc/kernel';
import { checkUrl } from './address-guard.js';

/**
 * The problem of an address that a merchant wants us to call, or undefined: {@link merchantUrlProblem}, or an address that
 * {@link checkUrl} would reject at every attempt. So the merchant gets the error with its request, and not after the last attempt.
 * The addresses of a name are checked at each call.
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
