import MediaMessages

/// The messages between the program and the processes that decode for it: a byte that chooses the kind (modulo 8), and a message, or
/// what is written about a file or as packets into the shared memory.
enum MediaMessageTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind % 8 {
    case 0:
      guard let request = try? MediaRequest(parsing: bytes) else { return }
      try require((try? MediaRequest(parsing: request.encoded)) == request, "A request does not round-trip.")
    case 1:
      guard let response = try? MediaResponse(parsing: bytes) else { return }
      try require((try? MediaResponse(parsing: response.encoded)) == response, "A response does not round-trip.")
      try check(response.body)
    case 2:
      guard let request = try? LauncherRequest(parsing: bytes) else { return }
      try require((try? LauncherRequest(parsing: request.encoded)) == request, "A request does not round-trip.")
    case 3:
      guard let response = try? LauncherResponse(parsing: bytes) else { return }
      try require((try? LauncherResponse(parsing: response.encoded)) == response, "A response does not round-trip.")
    case 4:
      guard let description = try? bytes.withUnsafeBytes({ try FileDescription(parsing: $0) }) else { return }
      try require(description.tracks.count <= MediaLimits.tracks, "There are too many tracks.")
      for track in description.tracks {
        try require(
          track.extradata.count <= MediaLimits.extradataBytes && track.channels <= MediaLimits.statedChannels,
          "A track is beyond the limits.")
      }
    case 5:
      guard let settings = try? bytes.withUnsafeBytes({ try ContainerSettings(parsing: $0) }) else { return }
      try require(
        settings.tracks.count <= MediaLimits.tracks && settings.chapters.count <= MediaLimits.chapters,
        "A container has too many tracks or chapters.")
      let again = try? settings.encoded.withUnsafeBytes { try ContainerSettings(parsing: $0) }
      try require(again?.tracks.count == settings.tracks.count, "The settings of a container do not round-trip.")
    case 6:
      guard let count = bytes.first,
        let packets = try? bytes.dropFirst().withUnsafeBytes({ try PacketBatch.read(Int(count), from: $0) })
      else { return }
      try require(packets.count == Int(count), "Packets are missing.")
      let size = packets.reduce(0) { $0 + $1.bytes.count + PacketBatch.headerBytes }
      try require(size < bytes.count, "There are more packets than bytes.")
    default:
      guard let packets = try? bytes.withUnsafeBytes({ try FilePackets(parsing: $0) }).packets else { return }
      for packet in packets {
        try require(
          packet.size <= MediaLimits.frameBytes && (packet.offset == 0 || packet.offset + packet.size <= bytes.count),
          "A packet is outside of the memory.")
        for time in [packet.time ?? 0, packet.duration, packet.skipAtStart, packet.skipAtEnd] {
          try require(time.magnitude <= MediaLimits.latestTime.magnitude, "A time is beyond the limits.")
        }
      }
    }
  }

  /// What a response describes must be inside the shared memory, because it is read from there without further checks.
  private static func check(_ body: MediaResponse.Body) throws(InvariantViolation) {
    switch body {
    case .video(let video?):
      try require(
        (1...MediaLimits.side).contains(video.width) && (1...MediaLimits.side).contains(video.height),
        "A frame is too large.")
      for (index, plane) in (video.planes ?? []).enumerated() {
        let (width, height) = DecodedVideo.size(ofPlane: index, width: video.width, height: video.height)
        for row in [0, height - 1] {
          let start = plane.offset + row * plane.stride
          try require(start >= 0 && start + width <= MediaLimits.sharedBytes, "A row is outside of the memory.")
        }
      }
    case .audio(let audio):
      try require(
        audio.count * audio.channels * MemoryLayout<Float>.stride <= MediaLimits.sharedBytes,
        "Samples are outside of the memory.")
    case .failed(let reason):
      try require(
        reason.utf8.count <= MediaLimits.reasonBytes && reason.utf8.allSatisfy { (0x20...0x7E).contains($0) },
        "A reason is not printable.")
    default: break
    }
  }
}
