// report/page/web/src/plan/names.jsx — how a plan's devices, policies and places are called.
import { plan } from "../data.js";
import { bytesText } from "../words.js";

/** "process 4711, device 0 of 24 GiB" */
export function deviceName(device) {
  const process = plan.processes.length > 1 ? `process ${device.pid}, ` : "";
  const size = device.device_bytes > 0 ? ` of ${bytesText(device.device_bytes)}` : "";
  return `${process}device ${device.device ?? "?"}${size}`;
}

export const policyText = (policy) => (policy.recorded ? `${policy.name}, as recorded` : policy.name);
export const policyName = (policy) => (
  <>
    <code>{policy.name}</code>
    {policy.recorded && ", as recorded"}
  </>
);
