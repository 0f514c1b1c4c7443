import Media
import MediaMessages
import MediaWorker
import NIOCore

/// Decodes one video stream in the worker of its participant.
final class WorkerVideoDecoder {
  private let codec: Codec
  private let decoder: StreamDecoder
  /// The last frame: three planes of rows without padding. A copy, because the worker may change its own at any time.
  private var copy: [UInt8] = []
  /// What the last response described.
  private var decoded: DecodedVideo?
  /// Whether any frame can state a size, as those of VP9, so that it is checked here.
  private let statesSizes: Bool
  /// Whether a frame stated a size that is too large; see ``VP9Decoder``.
  private var isBroken = false

  /// - Parameter isReplaceable: whether this process decodes the codec as well.
  init(_ codec: Codec, _ mediaCodec: MediaCodec, isReplaceable: Bool = false, in worker: MediaWorker) {
    statesSizes = codec.properties.decoder == .libvpxVP9
    self.codec = codec
    decoder = StreamDecoder(mediaCodec, isReplaceable: isReplaceable, in: worker)
  }

  /// Whether frames fail up to the next keyframe, and could be decoded from there on.
  var lacksKeyframe: Bool { decoder.lacksKeyframe }

  /// Decodes one whole frame and passes the image to `body`.
  ///
  /// - Returns: what `body` returns; nil if the frame is not meant to be shown.
  func decode<Result>(_ frame: ByteBuffer, _ body: (VideoFrameView) -> Result) throws(CodecError) -> Result? {
    guard let size = try decode(frame, wantsOutput: true) else { return nil }
    return copy.withUnsafeBufferPointer { copy in
      copy.baseAddress.map { body(VideoFrameView(size: size, start: $0)) }
    }
  }

  /// Decodes one whole frame and returns its size only.
  func decode(_ frame: ByteBuffer) throws(CodecError) -> VideoSize? { try decode(frame, wantsOutput: false) }

  /// Decodes one whole frame and passes all images to `body` that the decoder has then, each with the time of its frame.
  func decode(
    _ frame: ByteBuffer, time: Int64, each body: (VideoFrameView, _ time: Int64) -> Void
  ) throws(CodecError) {
    decoded = nil
    guard let size = try decode(frame, time: time, wantsOutput: true) else { return }
    try pass(size, time, each: body) { video throws(CodecError) in
      try video.hasMore ? self.next(isAtEnd: false) : nil
    }
  }

  /// Passes the images to `body` that the decoder keeps. It then starts again with a keyframe.
  func drain(each body: (VideoFrameView, _ time: Int64) -> Void) throws(CodecError) {
    guard let size = try next(isAtEnd: true) else { return }
    try pass(size, 0, each: body) { _ throws(CodecError) in try self.next(isAtEnd: true) }
  }

  /// More images than a decoder keeps.
  private static let maximumKept = 64

  private func pass(
    _ first: VideoSize, _ time: Int64, each body: (VideoFrameView, Int64) -> Void,
    next: (DecodedVideo) throws(CodecError) -> VideoSize?
  ) throws(CodecError) {
    var size = first
    for _ in 0..<Self.maximumKept {
      guard let video = decoded else { return }
      copy.withUnsafeBufferPointer { copy in
        if let start = copy.baseAddress { body(VideoFrameView(size: size, start: start), video.time ?? time) }
      }
      guard let following = try next(video) else { return }
      size = following
    }
  }

  /// Takes the next image that the decoder keeps.
  private func next(isAtEnd: Bool) throws(CodecError) -> VideoSize? {
    decoded = nil
    do throws(MediaWorkerError) {
      let video = try decoder.receive(isAtEnd: isAtEnd) { response, memory in read(response, memory) }
      return video.flatMap(\.self).map { VideoSize(width: $0.width, height: $0.height) }
    } catch {
      throw CodecError("take a decoded frame of \(codec.properties.name)", worker: error)
    }
  }

  /// Copies the image that a response describes; nil inside for none, and nil if it makes no sense.
  private func read(_ response: MediaResponse.Body, _ memory: UnsafeRawBufferPointer) -> DecodedVideo?? {
    guard case .video(let video) = response else { return nil }
    guard let video else { return .some(nil) }
    guard let planes = video.planes else { return nil }
    take(planes, of: video, from: memory)
    decoded = video
    return .some(video)
  }

  private func decode(_ frame: ByteBuffer, time: Int64 = 0, wantsOutput: Bool) throws(CodecError) -> VideoSize? {
    let action = "decode a frame of \(codec.properties.name) of \(frame.readableBytes) bytes"
    if frame.readableBytes == 0 { throw CodecError(action, "it is empty") }
    if statesSizes {
      try VP9Decoder.checkStatedSizes(in: frame, isBroken: &isBroken, action)
      if isBroken {
        isBroken = !FrameHeader(parsing: frame, of: codec).isKeyframe
        if isBroken { throw CodecError(action, "an earlier frame was too large") }
      }
    }
    do throws(MediaWorkerError) {
      let video = try decoder.decode(
        frame, time: time, wantsOutput: wantsOutput, isStart: FrameHeader(parsing: frame, of: codec).isKeyframe
      ) { response, memory -> DecodedVideo?? in
        if wantsOutput { return read(response, memory) }
        guard case .video(let video) = response else { return nil }
        return .some(video)
      }
      return video.map { VideoSize(width: $0.width, height: $0.height) }
    } catch {
      throw CodecError(action, worker: error)
    }
  }

  /// Copies the planes. That they are inside the memory was checked when the response was parsed.
  private func take(_ planes: [DecodedVideo.Plane], of video: DecodedVideo, from memory: UnsafeRawBufferPointer) {
    copy.removeAll(keepingCapacity: true)
    for (index, plane) in planes.enumerated() {
      let (width, height) = DecodedVideo.size(ofPlane: index, width: video.width, height: video.height)
      for row in 0..<height {
        let start = plane.offset + row * plane.stride
        copy.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[start..<start + width]))
      }
    }
  }
}

extension CodecError {
  /// - Parameter process: what ends where the worker does.
  init(_ action: String, worker error: MediaWorkerError, process: String = "decoding process") {
    switch error {
    case .unavailable(let reason): self.init(action, reason, isUnavailable: true)
    case .ended(let reason): self.init(action, "the \(process) \(reason)")
    case .refused(let reason): self.init(action, reason)
    }
  }
}
