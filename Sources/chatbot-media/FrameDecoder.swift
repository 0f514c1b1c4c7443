import CFFmpeg
import MediaMessages

/// Why a frame was not decoded.
struct DecodingError: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  /// - Parameter code: what a function of FFmpeg returned.
  init(_ code: Int32) {
    var text = [CChar](repeating: 0, count: 128)
    av_strerror(code, &text, text.count)
    reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Decodes one stream.
protocol FrameDecoder: AnyObject {
  /// Decodes one whole frame.
  ///
  /// - Parameter memory: where the decoded frame is written; nil if only its size is wanted. It may overlap `bytes`.
  func decode(
    _ bytes: UnsafeRawBufferPointer, time: Int64, into memory: UnsafeMutableRawBufferPointer?
  ) throws(DecodingError) -> MediaResponse.Body

  /// Returns the next frame of those that are ready.
  func receive(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body

  /// Ends the stream, and returns the first of the frames that the decoder kept.
  func drain(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body
}

extension MediaCodec {
  func makeDecoder() throws(DecodingError) -> any FrameDecoder {
    switch decoder {
    case .libvpx(let isVP9): try VPXDecoder(isVP9: isVP9)
    case .ffmpeg(let name, let extradata): try FFmpegDecoder(name, extradata: extradata, isVideo: isVideo)
    }
  }
}
