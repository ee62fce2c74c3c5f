/** The result of an authorisation. */
export interface AcquirerResult {
  /** Adyen's `refusalReasonCode`, and the value of `RequestedTestAcquirerResponseCode`. */
  readonly code: string;
  /** The text that triggers the result if it is the card's `holderName`. */
  readonly holderName: string;
  readonly resultCode: 'Authorised' | 'Refused' | 'Error' | 'Cancelled' | 'Received';
  /** Empty if the payment was not refused. */
  readonly refusalReason: string;
}

const result = (
  code: number,
  holderName: string,
  refusalReason: string,
  resultCode: AcquirerResult['resultCode'] = 'Refused',
): AcquirerResult => ({ code: String(code), holderName, resultCode, refusalReason });

/**
 * Documentation: "Refusal reasons", and "Testing result codes and refusal reasons", which has the triggers. Both pages
 * list the codes of refusals in person too.
 */
export const ACQUIRER_RESULTS: readonly AcquirerResult[] = [
  result(0, 'UNKNOWN', 'Unknown', 'Error'),
  result(1, 'APPROVED', '', 'Authorised'),
  result(2, 'DECLINED', 'Refused'),
  result(3, 'REFERRAL', 'Referral'),
  result(4, 'ERROR', 'Acquirer Error', 'Error'),
  result(5, 'BLOCK_CARD', 'Blocked Card'),
  result(6, 'CARD_EXPIRED', 'Expired Card'),
  result(7, 'INVALID_AMOUNT', 'Invalid Amount'),
  result(8, 'INVALID_CARD_NUMBER', 'Invalid Card Number'),
  result(9, 'ISSUER_UNAVAILABLE', 'Issuer Unavailable'),
  result(10, 'NOT_SUPPORTED', 'Not supported'),
  result(11, 'NOT_3D_AUTHENTICATED', '3D Not Authenticated'),
  result(12, 'NOT_ENOUGH_BALANCE', 'Not enough balance'),
  result(13, 'PENDING', '', 'Received'),
  result(14, 'ACQUIRER_FRAUD', 'Acquirer Fraud'),
  result(15, 'CANCELLED', 'Cancelled'),
  result(16, 'SHOPPER_CANCELLED', 'Shopper Cancelled'),
  result(17, 'INVALID_PIN', 'Invalid Pin'),
  result(18, 'PIN_TRIES_EXCEEDED', 'Pin tries exceeded'),
  result(19, 'PIN_VALIDATION_NOT_POSSIBLE', 'Pin validation not possible'),
  result(20, 'FRAUD', 'FRAUD'),
  result(21, 'NOT_SUBMITTED', 'Not Submitted'),
  result(22, 'FRAUD_CANCELLED', 'FRAUD-CANCELLED', 'Cancelled'),
  result(23, 'TRANSACTION_NOT_PERMITTED', 'Transaction Not Permitted'),
  result(24, 'CVC_DECLINED', 'CVC Declined'),
  result(25, 'RESTRICTED_CARD', 'Restricted Card'),
  result(26, 'REVOCATION_OF_AUTH', 'Revocation Of Auth'),
  result(27, 'DECLINED_NON_GENERIC', 'Declined Non Generic'),
  result(28, 'WITHDRAWAL_AMOUNT_EXCEEDED', 'Withdrawal amount exceeded'),
  result(29, 'WITHDRAWAL_COUNT_EXCEEDED', 'Withdrawal count exceeded'),
  result(31, 'ISSUER_SUSPECTED_FRAUD', 'Issuer Suspected Fraud'),
  result(32, 'AVS_DECLINED', 'AVS Declined'),
  result(33, 'PIN_REQUIRED', 'Card requires online pin'),
  result(34, 'NO_CHECKING_ACCOUNT', 'No checking account available on Card'),
  result(35, 'NO_SAVINGS_ACCOUNT', 'No savings account available on Card'),
  result(36, 'MOBILE_PIN_REQUIRED', 'Mobile pin required'),
  result(37, 'CONTACTLESS_FALLBACK', 'Contactless fallback'),
  result(38, 'AUTHENTICATION_REQUIRED', 'Authentication required'),
  result(39, 'RREQ_NOT_RECEIVED', 'RReq not received from DS'),
  result(40, 'BAN_CURRENT_AID', 'Current AID is in Penalty Box.'),
  result(41, 'CVM_REQUIRED', 'CVM Required Restart Payment'),
  result(42, 'THREED_SECURE_ERROR', '3DS Authentication Error'),
  result(43, 'ONLINE_PIN_REQUIRED', 'Online PIN required'),
  result(44, 'TRY_ANOTHER_INTERFACE', 'Try another interface'),
  result(45, 'CHIP_DOWNGRADE_MODE', 'Chip downgrade mode'),
  result(46, 'ERPS_BLOCK', 'Transaction blocked by Adyen to prevent excessive retry fees'),
];

const BY_CODE = new Map(ACQUIRER_RESULTS.map((each) => [each.code, each]));
const BY_HOLDER_NAME = new Map(ACQUIRER_RESULTS.map((each) => [each.holderName, each]));

export const APPROVED = BY_CODE.get('1')!;
export const DECLINED = BY_CODE.get('2')!;
export const EXPIRED_CARD = BY_CODE.get('6')!;
export const NOT_AUTHENTICATED = BY_CODE.get('11')!;

/**
 * The result that the payment requests: by its code, or by the holder's name, of which only the part before the first
 * colon counts (documentation: "Testing with card holder name").
 */
export function requestedResult(code: string | undefined, holderName: string | undefined): AcquirerResult {
  const name = holderName?.split(':', 1)[0]?.trim() ?? '';
  return BY_CODE.get(code ?? '') ?? BY_HOLDER_NAME.get(name) ?? APPROVED;
}

/** Documentation: "Testing with card holder name", failed modifications. */
export const CAPTURE_FAILED_HOLDER_NAME = 'capture failed';
/** Documentation: "Testing with card holder name", failed modifications. */
export const REFUND_FAILED_HOLDER_NAME = 'refund failed';
