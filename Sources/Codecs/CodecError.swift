import COpus
import CVPX

/// An error of libopus, libvpx, libyuv or the decoding process, or an argument that they do not accept.
package struct CodecError: Error, Hashable, CustomStringConvertible {
  /// What was attempted, for example `decode an Opus packet of 12 bytes`.
  package let action: String
  /// The library's message, for example `corrupted stream`.
  package let reason: String
  /// Whether nothing was decoded, so that nothing is known of the frame: there is no decoder, or it was given no time.
  package let isUnavailable: Bool

  package init(_ action: String, _ reason: String, isUnavailable: Bool = false) {
    self.action = action
    self.reason = reason
    self.isUnavailable = isUnavailable
  }

  init(_ action: String, opus code: Int32) {
    self.init(action, opus_strerror(code).map { String(cString: $0) } ?? "error \(code)")
  }

  init(_ action: String, vpx code: vpx_codec_err_t) {
    self.init(action, vpx_codec_err_to_string(code).map { String(cString: $0) } ?? "error \(code.rawValue)")
  }

  package var description: String { "Cannot \(action): \(reason)." }
}
