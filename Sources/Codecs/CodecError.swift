import COpus
import CVPX

/// An error of libopus, libvpx or libyuv, or an argument that they do not accept.
package struct CodecError: Error, Hashable, CustomStringConvertible {
  /// What was attempted, for example `decode an Opus packet of 12 bytes`.
  package let action: String
  /// The library's message, for example `corrupted stream`.
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
