import FileSource
import Foundation
import TestSupport
import Testing

@Suite("Files that cannot be played")
struct OpeningTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  @Test("a missing file is refused by name")
  func missing() {
    let error = #expect(throws: MediaFile.OpeningError.self) { try MediaFile(opening: "nowhere/x.webm") }
    #expect(error?.path == "nowhere/x.webm" && error?.reason == .unreadable(errno: ENOENT))
    #expect(MediaFile.rejection("nowhere/x.webm") == "cannot be played: no such file or directory.")
  }

  @Test("a directory, and a pipe without a writer, are refused without waiting")
  func notFiles() throws {
    let sentence = "cannot be played: it is a directory, a pipe or a device, not a file."
    #expect(MediaFile.rejection(folder.url.path) == sentence)
    let pipe = folder.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(MediaFile.rejection(pipe) == sentence)
  }

  @Test("an empty file, a text file and a script are refused")
  func otherThings() throws {
    #expect(MediaFile.rejection(try folder.write([], as: "empty.webm")) == "cannot be played: it is empty.")
    #expect(
      MediaFile.rejection(try folder.write(Array("hello, world".utf8), as: "a.webm"))
        == "cannot be played: it is neither WebM nor Matroska nor IVF nor Ogg nor MP4.")
    #expect(
      MediaFile.rejection(try folder.write(Array("#!/bin/sh".utf8), as: "a.sh"))
        == "cannot be played: it is a script, and only WebM, Matroska, IVF, Ogg and MP4 are played as stored."
    )
  }

  @Test("a codec name of many combining marks is refused without taking minutes", .timeLimit(.minutes(1)))
  func marks() throws {
    let name = String(repeating: "\u{301}\u{316}", count: 100_000)
    let file =
      WebMBuilder.header() + WebMBuilder.segment(WebMBuilder.info(), WebMBuilder.tracks(WebMBuilder.video(codec: name)))
    #expect(
      MediaFile.rejection(try folder.write(file, as: "marks.webm"))
        == "cannot be played: its video is of a codec that the file does not name, and only VP8 is played.")
  }

  @Test("more than a thousand frames a second are refused, also in a short file")
  func tooManyFrames() throws {
    let blocks = (0..<100).flatMap {
      WebMBuilder.block(track: 1, at: Int16($0), WebMBuilder.keyframe(), flags: 0x80)
    }
    let file =
      WebMBuilder.header()
      + WebMBuilder.segment(
        WebMBuilder.info(timecodeScale: 200_000), WebMBuilder.tracks(WebMBuilder.video(interval: 1)),
        WebMBuilder.cluster(at: 0, blocks))
    let rejection = try #require(MediaFile.rejection(try folder.write(file, as: "fast.webm")))
    #expect(rejection.hasSuffix("has more than 1000 frames a second."))
  }

  @Test(
    "unsupported formats and codecs are refused by name",
    arguments: [
      ("a.mp4", "libx264", "aac", "its video is H.264, and only VP8 is played"),
      ("a.webm", "libvpx-vp9", "libopus", "its video is VP9, and only VP8 is played"),
      ("b.webm", "libvpx", "libvorbis", "its audio is Vorbis, and only Opus is played"),
      ("a.mkv", "libx264", "libopus", "its video is H.264, and only VP8 is played"),
      ("b.mkv", "libvpx", "aac", "its audio is AAC, and only Opus is played"),
    ])
  func codecs(_ name: String, _ video: String, _ audio: String, _ reason: String) throws {
    let path = folder.path(name)
    try Sample.make(
      path, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=0.3", "-f", "lavfi", "-i", "sine=d=0.3:r=48000",
      "-c:v", video, "-c:a", audio, "-strict", "-2")
    #expect(MediaFile.rejection(path) == "cannot be played: \(reason).")
  }

  @Test(
    "Ogg files with another codec are refused by its name",
    arguments: [
      ("libvorbis", "its audio is Vorbis, and only Opus is played"),
      ("flac", "its audio is FLAC, and only Opus is played"),
    ])
  func oggCodecs(_ codec: String, _ reason: String) throws {
    let path = folder.path("a.ogg")
    try Sample.make(path, "-f", "lavfi", "-i", "sine=d=0.3:r=48000", "-c:a", codec)
    #expect(MediaFile.rejection(path) == "cannot be played: \(reason).")
  }

  @Test("six channels are refused")
  func surround() throws {
    for name in ["a.webm", "a.ogg"] {
      let path = folder.path(name)
      try Sample.make(
        path, "-f", "lavfi", "-i", "anullsrc=channel_layout=5.1:sample_rate=48000:d=0.2", "-c:a", "libopus",
        "-mapping_family", "1")
      #expect(
        MediaFile.rejection(path) == "cannot be played: its audio has 6 channels, and a call carries one or two.")
    }
  }
}
