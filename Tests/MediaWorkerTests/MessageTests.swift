import Media
import MediaMessages
import MediaWorker
import Testing

@Suite("Messages of decoding processes")
struct MessageTests {
  private static let plane = DecodedVideo.Plane(offset: 0, stride: 640)

  @Test(
    "requests are parsed as they were written",
    arguments: [
      MediaRequest.Body.openDecoder(0, .h264), .openDecoder(63, .g722), .closeDecoder(5),
      .decode(1, bytes: 4 << 20, time: -7, wantsOutput: true), .receive(2), .drain(3), .attempt(4),
    ])
  func requests(body: MediaRequest.Body) throws {
    let request = MediaRequest(0xFEDC_BA98, body)
    #expect(try MediaRequest(parsing: request.encoded) == request)
    for count in 0..<request.encoded.count {
      #expect(throws: MessageError.self) { try MediaRequest(parsing: Array(request.encoded.prefix(count))) }
    }
    #expect(throws: MessageError.self) { try MediaRequest(parsing: request.encoded + [0]) }
  }

  @Test("requests of compositions are parsed as they were written")
  func requestsOfCompositions() throws {
    let video = try #require(
      CompositionEncoderSettings(
        codec: .av1, width: 1_280, height: 720, numerator: 30_000, denominator: 1_001, quality: 10,
        maximumBitrate: 2_000_000, keyframeDistance: 60))
    let sound = try #require(SoundEncoderSettings(codec: .aac, bitrate: 96_000, channels: 1))
    for body in [
      MediaRequest.Body.trackEncoder(.openVideo(video)), .trackEncoder(.openSound(sound)),
      .trackEncoder(.frame(slot: 1, number: -5)), .trackEncoder(.samples(count: 48_000)), .trackEncoder(.more),
      .trackEncoder(.finish), .container(.open(bytes: 7)), .container(.write(count: 3, bytes: 900)),
      .container(.finish),
    ] {
      try requests(body: body)
    }
    for body in [
      MediaRequest.Body.trackEncoder(.frame(slot: 2, number: 0)), .trackEncoder(.samples(count: 1 << 20 + 1)),
      .container(.open(bytes: MediaLimits.sharedBytes + 1)),
    ] {
      #expect(throws: MessageError.self) { try MediaRequest(parsing: MediaRequest(1, body).encoded) }
    }
    let responses: [TrackEncoderResponse] = [
      .opened(privateBytes: 40, frame: 1_024, delay: 1_024), .packets(count: 2, bytes: 4_000, hasMore: true),
    ]
    for response in responses {
      let whole = MediaResponse(3, .trackEncoder(response))
      #expect(try MediaResponse(parsing: whole.encoded) == whole)
    }
  }

  @Test("packets are read as they were written, and only if all of them are there")
  func batches() throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 200, alignment: 16)
    defer { memory.deallocate() }
    let packets = [
      EncodedPacket(track: 1, pts: -5, dts: -7, duration: 2, isKeyframe: true, skipAtEnd: 3, bytes: [1, 2, 3]),
      EncodedPacket(pts: 9, dts: 8, duration: 1, isKeyframe: false, bytes: []),
    ]
    var end = 0
    for packet in packets {
      let isWritten = packet.bytes.withUnsafeBytes { PacketBatch.write(packet, $0, to: memory, at: &end) }
      #expect(isWritten)
    }
    #expect(end == 2 * PacketBatch.headerBytes + 3)
    let written = UnsafeRawBufferPointer(rebasing: memory[..<end])
    #expect(try PacketBatch.read(2, from: written) == packets)
    #expect(throws: MessageError.self) { try PacketBatch.read(3, from: written) }
    #expect(throws: MessageError.self) {
      try PacketBatch.read(2, from: UnsafeRawBufferPointer(rebasing: written[..<(end - 1)]))
    }
    let large = [UInt8](repeating: 0, count: 100)
    let isWritten = large.withUnsafeBytes { PacketBatch.write(packets[0], $0, to: memory, at: &end) }
    #expect(!isWritten && end == written.count)
  }

  @Test("a request beyond the limits is refused")
  func limitsOfRequests() {
    for body in [
      MediaRequest.Body.openDecoder(64, .h264), .closeDecoder(255),
      .decode(1, bytes: 4 << 20 + 1, time: 0, wantsOutput: false),
    ] {
      #expect(throws: MessageError.self) { try MediaRequest(parsing: MediaRequest(1, body).encoded) }
    }
    #expect(throws: MessageError.self) { try MediaRequest(parsing: [UInt8](repeating: 1, count: 513)) }
  }

  @Test("responses are parsed as they were written")
  func responses() throws {
    let planes = [Self.plane, DecodedVideo.Plane(offset: 307_200, stride: 320), .init(offset: 384_000, stride: 320)]
    let video = try #require(DecodedVideo(width: 640, height: 480, planes: planes, time: 90_000, hasMore: true))
    let size = try #require(DecodedVideo(width: 4_096, height: 4_096, planes: nil))
    let audio = try #require(DecodedAudio(count: 320, channels: 2, rate: 16_000))
    for body in [
      MediaResponse.Body.done, .failed(reason: "broken"), .video(nil), .video(video), .video(size), .audio(audio),
      .attempted(-13),
    ] {
      let response = MediaResponse(7, body)
      #expect(try MediaResponse(parsing: response.encoded) == response)
    }
  }

  @Test("a plane must be inside the memory, with each of its rows")
  func planes() {
    let memory = MediaLimits.sharedBytes
    func video(_ offset: Int, _ stride: Int) -> DecodedVideo? {
      DecodedVideo(width: 64, height: 64, planes: [.init(offset: offset, stride: stride), Self.plane, Self.plane])
    }
    #expect(video(memory - 64 * 64, 64) != nil)
    #expect(video(memory - 64 * 64 + 1, 64) == nil)
    #expect(video(0, 63) == nil)
    #expect(video(-1, 64) == nil)
    #expect(video(0, (memory - 64) / 63) != nil)
    #expect(video(0, (memory - 64) / 63 + 1) == nil)
    #expect(video(0, Int(UInt32.max)) == nil)
    #expect(video(Int(UInt32.max), 64) == nil)
    for (width, height) in [(0, 64), (64, 0), (4_097, 64), (64, 4_097), (-1, -1)] {
      #expect(DecodedVideo(width: width, height: height, planes: nil) == nil)
    }
    #expect(DecodedVideo(width: 64, height: 64, planes: [Self.plane]) == nil)
  }

  @Test("a reason becomes printable and short")
  func reasons() throws {
    let response = MediaResponse(1, .failed(reason: "a\u{1B}[2J\nä" + String(repeating: "b", count: 300)))
    guard case .failed(let reason) = try MediaResponse(parsing: response.encoded).body else {
      Issue.record("not a failure")
      return
    }
    #expect(reason.hasPrefix("a?[2J???bb") && reason.utf8.count == 200)
  }

  @Test("times and channels of files are bounded, so that nobody who adds them up must fear an overflow")
  func boundsOfFiles() throws {
    let stated = FilePackets([
      .init(time: .min, duration: .min, isKeyframe: true, skipAtStart: .max, skipAtEnd: .max, size: 1),
      .init(time: .max, duration: .max, isKeyframe: true, skipAtStart: -1, skipAtEnd: .min, size: 1),
    ]).encoded
    let packets = try stated.withUnsafeBytes { try FilePackets(parsing: $0) }.packets
    let latest = MediaLimits.latestTime
    #expect(packets.map(\.time) == [-latest, latest] && packets.map(\.duration) == [0, latest])
    #expect(packets.map(\.skipAtStart) == [latest, 0] && packets.map(\.skipAtEnd) == [latest, 0])
    for (time, bounded) in [(Int64.min, -latest), (.max, latest), (-7, -7)] {
      let response = MediaResponse(1, .file(.undecodable(time: time, reason: "broken")))
      let parsed = try MediaResponse(parsing: response.encoded)
      #expect(parsed.body == .file(.undecodable(time: bounded, reason: "broken")))
    }
    var track = FileDescription.Track(kind: .audio, codec: "aac")
    track.channels = Int(UInt32.max)
    let description = FileDescription(format: "mp4", tracks: [track]).encoded
    let tracks = try description.withUnsafeBytes { try FileDescription(parsing: $0) }.tracks
    #expect(tracks.map(\.channels) == [MediaLimits.statedChannels])
  }

  @Test("messages of the parent process are parsed as they were written")
  func launcher() throws {
    for request in [LauncherRequest.start(.decoding), .start(.encoding), .start(.writing), .end(12), .forget(-1)] {
      #expect(try LauncherRequest(parsing: request.encoded) == request)
    }
    for response in [LauncherResponse.ready(version: 1), .started(5), .ended(-11), .failed(reason: "no")] {
      #expect(try LauncherResponse(parsing: response.encoded) == response)
    }
  }

  @Test("the program is named by the variable, or beside the running one, or in libexec")
  func path() throws {
    func find(_ named: String?, _ existing: Set<String>) -> Result<String, ProgramPath.Missing> {
      ProgramPath.media.find(named: named, running: "/opt/bin/chatbot") { existing.contains($0) }
    }
    #expect(try find("/x/y", ["/x/y", "/opt/bin/chatbot-media"]).get() == "/x/y")
    #expect(
      try find(nil, ["/opt/bin/chatbot-media", "/opt/bin/../libexec/chatbot/chatbot-media"]).get()
        == "/opt/bin/chatbot-media")
    #expect(
      try find("", ["/opt/bin/../libexec/chatbot/chatbot-media"]).get() == "/opt/bin/../libexec/chatbot/chatbot-media")
    let wrong = #expect(throws: ProgramPath.Missing.self) { try find("/x/y", ["/opt/bin/chatbot-media"]).get() }
    #expect(wrong?.sentence == "CHATBOT_MEDIA names no program: /x/y.")
    let missing = #expect(throws: ProgramPath.Missing.self) { try find(nil, []).get() }
    #expect(
      missing?.sentence
        == "chatbot-media is neither beside this program, in /opt/bin, nor in ../libexec/chatbot from there, "
        + "and CHATBOT_MEDIA does not name it.")
  }
}
