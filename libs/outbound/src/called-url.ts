import { type FieldProblem, merchantUrlProblem, type MerchantUrlRules } from '@svc/kernel';
import { checkUrl } from './address-guard.js';

/**
 * What is wrong with an address that a merchant wants to be called at, or undefined: beside {@link merchantUrlProblem}, one that
 * {@link checkUrl} would refuse at every try. So it is said when the address is given, and not when the tries have ended. Where
 * a name leads is judged when it is called.
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
