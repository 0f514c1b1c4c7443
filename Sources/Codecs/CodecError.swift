import COpus
import CVPX

/// Why libopus or libvpx refused its work.
package struct CodecError: Error, Hashable, CustomStringConvertible {
  /// What was wanted, for example `decode an Opus packet of 12 bytes`.
  package let action: String
  /// What the library said, for example `corrupted stream`.
  package let reason: String

  package init(_ action: String, _ reason: String) {
    self.action = action
    self.reason = reason
  }

  init(_ action: String, opus code: Int32) {
    self.init(action, opus_strerror(code).map { String(cString: $0) } ?? "error \(code)")
  }

  init(_ action: String, vpx code: vpx_codec_err_t) {
    self.init(action, vpx_codec_err_to_string(code).map { String(cString: $0) } ?? "error \(code.rawValue)")
  }

  package var description: String { "Cannot \(action): \(reason)." }
}
