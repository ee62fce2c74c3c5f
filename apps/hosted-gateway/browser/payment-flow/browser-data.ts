/** Browser data for 3-D Secure 2 that only a script can read. The server reads other browser data from the request. */
export interface ScriptBrowserData {
  language: string;
  screenWidth: number;
  screenHeight: number;
  colorDepth: number;
  timeZoneOffsetMinutes: number;
}

/** Reads the browser data. Undefined in a browser that does not provide them, because a payment does not need them. */
export function readBrowserData(): ScriptBrowserData | undefined {
  try {
    return {
      language: navigator.language,
      screenWidth: screen.width,
      screenHeight: screen.height,
      colorDepth: screen.colorDepth,
      timeZoneOffsetMinutes: new Date().getTimezoneOffset(),
    };
  } catch {
    return undefined;
  }
}
