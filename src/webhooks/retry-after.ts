const DAY_MS = 86_400_000;

/** Returns the wait that a 429 or 503 asks for, in seconds or until a date; null if for none. */
export function retryAfterMs(
  status: number,
  header: string | undefined,
  nowMs: number,
): number | null {
  if ((status !== 429 && status !== 503) || header === undefined) return null;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : httpDateMs(header, nowMs) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), DAY_MS);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY_NAME = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<time>(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60))';

/** IMF-fixdate, RFC 850 and asctime. (RFC 9110, section 5.6.7) */
const HTTP_DATES = [
  `${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  `${LONG_DAY_NAME}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  `${DAY_NAME} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Returns NaN if the text is not a date of HTTP. */
function httpDateMs(text: string, nowMs: number): number {
  const found = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups);
  if (found === undefined) return Number.NaN;
  const { day = '', month = '', year = '', time = '' } = found;
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  const date = [MONTHS.indexOf(month), Number(day)] as const;
  const msIn = (fullYear: number): number =>
    new Date(Date.UTC(fullYear, ...date)).getUTCDate() === date[1]
      ? Date.UTC(fullYear, ...date, hours, minutes, seconds)
      : Number.NaN;
  if (year.length === 4) return msIn(Number(year));
  // Two digits mean the latest year that is not more than 50 years ahead.
  const limit = new Date(nowMs);
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const latest = limit.getUTCFullYear() - ((limit.getUTCFullYear() - Number(year)) % 100);
  return msIn(latest) > limit.getTime() ? msIn(latest - 100) : msIn(latest);
}
