/// A request to a worker. Its bytes, such as an encoded frame, are at the start of the shared memory.
package struct MediaRequest: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// Creates a decoder under a number, in place of one that has the number.
    case openDecoder(UInt8, MediaCodec)
    /// Ends a decoder.
    case closeDecoder(UInt8)
    /// Decodes one whole frame or audio packet of `bytes` bytes. The decoder passes on `time` to the frame, in any unit. Without
    /// `wantsOutput` the response tells the size of the last decoded frame, or the number of samples.
    case decode(UInt8, bytes: Int, time: Int64, wantsOutput: Bool)
    /// Asks for the next frame of a decoder, after a response that said that there is one, or after `drain`.
    case receive(UInt8)
    /// Tells a decoder that there are no more frames, so that it returns those that it keeps. It then starts again with a keyframe.
    case drain(UInt8)
    /// Reads a file.
    case file(FileRequest)
    /// Encodes.
    case encoder(EncoderRequest)
    /// Encodes for a composition.
    case trackEncoder(TrackEncoderRequest)
    /// Writes a file.
    case container(ContainerRequest)
    /// Tries what the sandbox refuses; see `chatbot-media --self-test`.
    case attempt(Int)
  }

  /// The response to it has the same number.
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
    case 1:
      let decoder = try Self.decoder(&cursor)
      guard let codec = MediaCodec(rawValue: try cursor.byte()) else { throw MessageError("there is no such codec") }
      body = .openDecoder(decoder, codec)
    case 2: body = .closeDecoder(try Self.decoder(&cursor))
    case 3:
      body = .decode(
        try Self.decoder(&cursor), bytes: try cursor.number(upTo: MediaLimits.frameBytes), time: try cursor.time(),
        wantsOutput: try cursor.flag())
    case 4: body = .receive(try Self.decoder(&cursor))
    case 5: body = .drain(try Self.decoder(&cursor))
    case 6: body = .attempt(try cursor.number(upTo: 1_000))
    case 20: body = .file(try FileRequest(&cursor))
    case 21: body = .encoder(try EncoderRequest(&cursor))
    case 22: body = .trackEncoder(try TrackEncoderRequest(&cursor))
    case 23: body = .container(try ContainerRequest(&cursor))
    default: throw MessageError("there is no such request")
    }
    try cursor.end()
  }

  private static func decoder(_ cursor: inout MessageCursor) throws(MessageError) -> UInt8 {
    let number = try cursor.byte()
    guard number < MediaLimits.decoders else { throw MessageError("there is no decoder \(number)") }
    return number
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.number(number)
    switch body {
    case .openDecoder(let decoder, let codec):
      writer.byte(1)
      writer.byte(decoder)
      writer.byte(codec.rawValue)
    case .closeDecoder(let decoder):
      writer.byte(2)
      writer.byte(decoder)
    case .decode(let decoder, let bytes, let time, let wantsOutput):
      writer.byte(3)
      writer.byte(decoder)
      writer.number(bytes)
      writer.time(time)
      writer.flag(wantsOutput)
    case .receive(let decoder):
      writer.byte(4)
      writer.byte(decoder)
    case .drain(let decoder):
      writer.byte(5)
      writer.byte(decoder)
    case .file(let request):
      writer.byte(20)
      request.write(to: &writer)
    case .encoder(let request):
      writer.byte(21)
      request.write(to: &writer)
    case .trackEncoder(let request):
      writer.byte(22)
      request.write(to: &writer)
    case .container(let request):
      writer.byte(23)
      request.write(to: &writer)
    case .attempt(let index):
      writer.byte(6)
      writer.number(index)
    }
    return writer.bytes
  }
}
