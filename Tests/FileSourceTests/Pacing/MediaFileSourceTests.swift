import FileSource
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("A file as a live source")
struct MediaFileSourceTests {
  let folder: ScratchFolder
  let owner = ParticipantID("me")

  init() throws {
    folder = try ScratchFolder()
  }

  /// Creates a copy of the sample's first half second.
  func shortFile() throws -> String {
    let path = folder.path("short.webm")
    try Sample.make(path, "-i", Sample.path, "-c", "copy", "-t", "0.5")
    return path
  }

  @Test("played once, all frames are sent in real time, and the stream ends with the file")
  func once() async throws {
    let source = try MediaFileSource(opening: shortFile(), loops: false, owner: owner)
    let began = ContinuousClock.now
    var frames: [EncodedFrame] = []
    var early = 0
    for await frame in await source.frames() {
      if ContinuousClock.now < frame.arrival { early += 1 }
      frames.append(frame)
    }
    let took = ContinuousClock.now - began
    #expect(early == 0)
    #expect(frames.allSatisfy { $0.owner == owner })
    #expect(frames.count { $0.codec == .vp8 } == source.file.track(.video)?.frames)
    #expect(frames.count { $0.codec == .opus } == source.file.track(.audio)?.frames)
    #expect(frames.first { $0.codec == .vp8 }?.size == VideoSize(width: 640, height: 480))
    #expect(took >= source.file.duration - .milliseconds(1))
    #expect(await source.failure == nil)
  }

  @Test("in a loop it continues with growing times until the consumer cancels")
  func loop() async throws {
    let source = try MediaFileSource(opening: shortFile(), owner: owner)
    let round = try source.file.frames(.audio).map(\.payload)
    var packets: [EncodedFrame] = []
    for await frame in await source.frames() where frame.codec == .opus {
      packets.append(frame)
      if packets.count == round.count * 3 { break }
    }
    #expect(packets.map(\.payload) == round + round + round)
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks >= 960 })
  }

  @Test("each playback begins at the file's start, independently of others")
  func twice() async throws {
    let source = try MediaFileSource(opening: shortFile(), owner: owner)
    var one = await source.frames().makeAsyncIterator()
    _ = await one.next()
    var two = await source.frames().makeAsyncIterator()
    #expect(await two.next()?.time.ticks == 0)
  }

  @Test("a file that becomes shorter while it plays ends the stream, and `failure` states the reason")
  func changed() async throws {
    let path = try shortFile()
    let source = try MediaFileSource(opening: path, owner: owner)
    #expect(truncate(path, 2000) == 0)
    for await _ in await source.frames() {}
    #expect(await source.failure?.description == "\(path) cannot be played: it has changed since it was opened.")
  }

  @Test("a file that is replaced during playback is played to its end")
  func replaced() async throws {
    let path = try shortFile()
    let source = try MediaFileSource(opening: path, loops: false, owner: owner)
    try FileManager.default.removeItem(atPath: path)
    var count = 0
    for await _ in await source.frames() { count += 1 }
    #expect(count == source.file.tracks.map(\.frames).reduce(0, +))
  }

  @Test("a consumer that is too slow loses groups of frames, never a frame from the middle of one")
  func slowConsumer() async {
    let (stream, continuation) = AsyncStream.makeStream(
      of: EncodedFrame.self, bufferingPolicy: .bufferingOldest(3))
    var frameWriter = FrameStreamWriter(continuation)
    func videoFrame(_ number: Int64, key: Bool = false) -> EncodedFrame {
      EncodedFrame(
        owner: owner, codec: .vp8, time: MediaTime(ticks: number, rate: 90_000), payload: ByteBuffer(), isKeyframe: key,
        arrival: .now)
    }
    for number in 0..<5 { frameWriter.give(videoFrame(Int64(number), key: number == 0)) }
    var frames = stream.makeAsyncIterator()
    for number in 0..<3 { #expect(await frames.next()?.time.ticks == Int64(number)) }
    frameWriter.give(videoFrame(5))
    frameWriter.give(videoFrame(6, key: true))
    frameWriter.give(videoFrame(7))
    #expect(await frames.next()?.time.ticks == 6)
    #expect(await frames.next()?.time.ticks == 7)
    #expect(frameWriter.lostFrames == 3)
  }
}
