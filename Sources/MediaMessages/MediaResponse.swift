/// A worker's response. Nothing in it is trusted: the parser checks that what it describes is inside the shared memory.
package struct MediaResponse: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    case done
    /// The request failed, for example because a frame is broken. The decoder remains.
    case failed(reason: String)
    /// A decoded frame; nil if the frame is not meant to be shown.
    case video(DecodedVideo?)
    case audio(DecodedAudio)
    case file(FileResponse)
    case encoded(EncoderOutput)
    case trackEncoder(TrackEncoderResponse)
    /// What an attempt to leave the sandbox returned: 0 if it succeeded, or the number of an error.
    case attempted(Int32)
  }

  /// The number of the request.
  package let number: UInt32
  package let body: Body

  package init(_ number: UInt32, _ body: Body) {
    self.number = number
    self.body = body
  }

  package init(parsing bytes: [UInt8]) throws(MessageError) {
    var cursor = try MessageCursor(bytes)
    number = try cursor.number()
    switch try cursor.byte() {
    case 1: body = .done
    case 2: body = .failed(reason: cursor.text())
    case 3: body = .video(nil)
    case 4: body = .video(try DecodedVideo(&cursor))
    case 5: body = .audio(try DecodedAudio(&cursor))
    case 6: body = .attempted(try cursor.signed())
    case 20: body = .file(try FileResponse(&cursor))
    case 21: body = .encoded(try EncoderOutput(&cursor))
    case 22: body = .trackEncoder(try TrackEncoderResponse(&cursor))
    default: throw MessageError("there is no such response")
    }
    try cursor.end()
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.number(number)
    switch body {
    case .done: writer.byte(1)
    case .failed(let reason):
      writer.byte(2)
      writer.text(reason)
    case .video(nil): writer.byte(3)
    case .video(let video?):
      writer.byte(4)
      video.write(to: &writer)
    case .audio(let audio):
      writer.byte(5)
      audio.write(to: &writer)
    case .file(let response):
      writer.byte(20)
      response.write(to: &writer)
    case .encoded(let output):
      writer.byte(21)
      output.write(to: &writer)
    case .trackEncoder(let response):
      writer.byte(22)
      response.write(to: &writer)
    case .attempted(let result):
      writer.byte(6)
      writer.signed(result)
    }
    return writer.bytes
  }
}

/// A decoded video frame in 8-bit I420. A plane has rows of the width in bytes; both chroma planes have half the width and height,
/// rounded up.
package struct DecodedVideo: Sendable, Hashable {
  /// Where a plane is in the shared memory: its first byte, and the distance between the starts of its rows.
  package struct Plane: Sendable, Hashable {
    package let offset: Int
    package let stride: Int

    package init(offset: Int, stride: Int) {
      self.offset = offset
      self.stride = stride
    }
  }

  /// 1 to 4096.
  package let width: Int
  package let height: Int
  /// Luma, blue, red; nil if the request did not want the frame itself.
  package let planes: [Plane]?
  /// That of the request with which the frame came; nil if the decoder does not know it.
  package let time: Int64?
  /// Whether the decoder has another frame.
  package let hasMore: Bool

  /// Nil unless the sides are within the limits and each plane is inside the memory.
  package init?(width: Int, height: Int, planes: [Plane]?, time: Int64? = nil, hasMore: Bool = false) {
    self.time = time
    self.hasMore = hasMore
    guard (1...MediaLimits.side).contains(width), (1...MediaLimits.side).contains(height) else { return nil }
    self.width = width
    self.height = height
    self.planes = planes
    guard let planes else { return }
    guard planes.count == 3 else { return nil }
    for (index, plane) in planes.enumerated() {
      let (width, height) = Self.size(ofPlane: index, width: width, height: height)
      guard (0...MediaLimits.sharedBytes).contains(plane.offset),
        (width...MediaLimits.sharedBytes).contains(plane.stride),
        // Nothing overflows: the product is below 2^38.
        plane.offset + (height - 1) * plane.stride + width <= MediaLimits.sharedBytes
      else { return nil }
    }
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    let width = Int(try cursor.number())
    let height = Int(try cursor.number())
    var planes: [Plane]?
    if try cursor.flag() {
      var found: [Plane] = []
      for _ in 0..<3 {
        found.append(Plane(offset: Int(try cursor.number()), stride: Int(try cursor.number())))
      }
      planes = found
    }
    let time = try cursor.flag() ? try cursor.time() : nil
    let hasMore = try cursor.flag()
    guard let video = DecodedVideo(width: width, height: height, planes: planes, time: time, hasMore: hasMore) else {
      throw MessageError("a frame of \(width)x\(height) is too large, or outside of the memory")
    }
    self = video
  }

  func write(to writer: inout MessageWriter) {
    writer.number(width)
    writer.number(height)
    writer.flag(planes != nil)
    for plane in planes ?? [] {
      writer.number(plane.offset)
      writer.number(plane.stride)
    }
    writer.flag(time != nil)
    if let time { writer.time(time) }
    writer.flag(hasMore)
  }

  /// Returns the size of a plane, 0 to 2.
  package static func size(ofPlane index: Int, width: Int, height: Int) -> (width: Int, height: Int) {
    index == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
  }
}

/// Decoded audio: interleaved 32-bit floats at the start of the shared memory.
package struct DecodedAudio: Sendable, Hashable {
  /// The samples of each channel. They are in the memory only if the request wanted them.
  package let count: Int
  /// 1 or 2.
  package let channels: Int
  /// In Hz.
  package let rate: Int

  /// Nil unless all is within the limits.
  package init?(count: Int, channels: Int, rate: Int) {
    guard (0...MediaLimits.samples).contains(count), (1...2).contains(channels),
      (1...MediaLimits.sampleRate).contains(rate)
    else { return nil }
    self.count = count
    self.channels = channels
    self.rate = rate
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    let (count, channels, rate) = (Int(try cursor.number()), Int(try cursor.number()), Int(try cursor.number()))
    guard let audio = DecodedAudio(count: count, channels: channels, rate: rate) else {
      throw MessageError("\(count) samples of \(channels) channels at \(rate) Hz are not within the limits")
    }
    self = audio
  }

  func write(to writer: inout MessageWriter) {
    writer.number(count)
    writer.number(channels)
    writer.number(rate)
  }
}
