internal import Bitstream

extension EncodedFrame {
  /// The profile and level of the frame's bitstream as in RFC 6381, 3.3, for example `avc1.42e01f`; nil if the frame does not say them:
  /// for audio, for codecs without profiles, and for all but keyframes.
  package var profile: String? {
    switch codec {
    case .h264: isKeyframe ? (try? H264FrameHeader(parsing: payload))?.parameters?.codecString : nil
    case .vp8, .vp9, .opus, .g722, .pcmu, .pcma: nil
    }
  }
}
