import CFFmpeg
import Glibc
import MediaMessages

/// Writes decoded frames into the shared memory: video as 8-bit I420, audio as interleaved floats.
final class FrameOutput {
  /// The rows start at multiples of this, as swscale wants it.
  private static let alignment = 64

  private var scaler: OpaquePointer?

  deinit { sws_freeContext(scaler) }

  /// The size of a decoded frame.
  func size(of frame: UnsafePointer<AVFrame>) throws(DecodingError) -> DecodedVideo {
    let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
    guard let video = DecodedVideo(width: width, height: height, planes: nil) else {
      throw DecodingError("\(width)x\(height) is above \(MediaLimits.side)x\(MediaLimits.side)")
    }
    return video
  }

  /// - Parameter keepsRange: whether frames whose samples are 0 to 255 stay so.
  func video(
    _ frame: UnsafePointer<AVFrame>, into memory: UnsafeMutableRawBufferPointer, keepsRange: Bool = true
  ) throws(DecodingError) -> DecodedVideo {
    let size = try size(of: frame)
    let planes = try Self.place(width: size.width, height: size.height, in: memory)
    guard let start = memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
      let video = DecodedVideo(width: size.width, height: size.height, planes: planes)
    else { throw DecodingError("there is no room for \(size.width)x\(size.height)") }
    let targets: [UnsafeMutablePointer<UInt8>?] = planes.map { start + $0.offset } + [nil]
    let strides = planes.map { Int32($0.stride) } + [0]
    switch AVPixelFormat(frame.pointee.format) {
    case AV_PIX_FMT_YUV420P: copy(frame, size, to: targets, strides)
    case AV_PIX_FMT_YUVJ420P where keepsRange: copy(frame, size, to: targets, strides)
    default: try convert(frame, size, to: targets, strides)
    }
    return video
  }

  /// Returns where the planes of a frame go.
  static func place(
    width: Int, height: Int, in memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> [DecodedVideo.Plane] {
    var planes: [DecodedVideo.Plane] = []
    var end = 0
    for index in 0..<3 {
      let plane = DecodedVideo.size(ofPlane: index, width: width, height: height)
      let stride = (plane.width + alignment - 1) / alignment * alignment
      planes.append(DecodedVideo.Plane(offset: end, stride: stride))
      end += stride * plane.height
    }
    guard end <= memory.count else { throw DecodingError("there is no room for \(width)x\(height)") }
    return planes
  }

  private func copy(
    _ frame: UnsafePointer<AVFrame>, _ size: DecodedVideo, to targets: [UnsafeMutablePointer<UInt8>?],
    _ strides: [Int32]
  ) {
    let sources = planes(of: frame)
    for index in 0..<3 {
      let plane = DecodedVideo.size(ofPlane: index, width: size.width, height: size.height)
      av_image_copy_plane(
        targets[index], strides[index], sources.starts[index], sources.strides[index], Int32(plane.width),
        Int32(plane.height))
    }
  }

  /// Converts other formats, as ffmpeg does it for `-pix_fmt yuv420p`.
  private func convert(
    _ frame: UnsafePointer<AVFrame>, _ size: DecodedVideo, to targets: [UnsafeMutablePointer<UInt8>?],
    _ strides: [Int32]
  ) throws(DecodingError) {
    let format = AVPixelFormat(frame.pointee.format)
    let (width, height) = (Int32(size.width), Int32(size.height))
    scaler = sws_getCachedContext(
      scaler, width, height, format, width, height, AV_PIX_FMT_YUV420P, chatbot_sws_bicubic(), nil, nil, nil)
    guard let scaler else { throw DecodingError("its pixels have a format that cannot be converted") }
    let sources = planes(of: frame)
    let rows = sws_scale(scaler, sources.starts, sources.strides, 0, height, targets, strides)
    guard rows == height else { throw DecodingError("its pixels cannot be converted") }
  }

  private func planes(of frame: UnsafePointer<AVFrame>) -> (starts: [UnsafePointer<UInt8>?], strides: [Int32]) {
    let (data, lines) = (frame.pointee.data, frame.pointee.linesize)
    return (
      [data.0, data.1, data.2, data.3].map { $0.map { UnsafePointer($0) } }, [lines.0, lines.1, lines.2, lines.3]
    )
  }

  func silence() throws(DecodingError) -> DecodedAudio {
    guard let audio = DecodedAudio(count: 0, channels: 1, rate: 48_000) else { throw DecodingError("no audio") }
    return audio
  }

  func audio(
    _ frame: UnsafePointer<AVFrame>, into memory: UnsafeMutableRawBufferPointer?
  ) throws(DecodingError) -> DecodedAudio {
    let (count, channels) = (Int(frame.pointee.nb_samples), Int(frame.pointee.ch_layout.nb_channels))
    guard let audio = DecodedAudio(count: count, channels: channels, rate: Int(frame.pointee.sample_rate)) else {
      throw DecodingError("\(count) samples of \(channels) channels are not within the limits")
    }
    guard let memory else { return audio }
    guard count * channels * MemoryLayout<Float>.stride <= memory.count,
      AVSampleFormat(frame.pointee.format) == AV_SAMPLE_FMT_S16
        || channels == 1 && AVSampleFormat(frame.pointee.format) == AV_SAMPLE_FMT_S16P,
      let source = frame.pointee.data.0
    else { throw DecodingError("its samples have a format that cannot be converted") }
    let samples = memory.bindMemory(to: Float.self)
    source.withMemoryRebound(to: Int16.self, capacity: count * channels) { source in
      for index in 0..<count * channels { samples[index] = Float(source[index]) / 32_768 }
    }
    return audio
  }
}
