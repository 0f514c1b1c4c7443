/// The Matroska elements that a recording uses, by their ids as they stand in the file (RFC 9559, 5.1).
enum WebMElement: UInt32 {
  // RFC 8794, 11.2: the EBML header.
  case ebml = 0x1A45_DFA3
  case ebmlVersion = 0x4286
  case ebmlReadVersion = 0x42F7
  case ebmlMaxIDLength = 0x42F2
  case ebmlMaxSizeLength = 0x42F3
  case docType = 0x4282
  case docTypeVersion = 0x4287
  case docTypeReadVersion = 0x4285
  case void = 0xEC

  case segment = 0x1853_8067

  case seekHead = 0x114D_9B74
  case seek = 0x4DBB
  case seekID = 0x53AB
  case seekPosition = 0x53AC

  case info = 0x1549_A966
  case timestampScale = 0x2A_D7B1
  case duration = 0x4489
  case dateUTC = 0x4461
  case muxingApp = 0x4D80
  case writingApp = 0x5741

  case tracks = 0x1654_AE6B
  case trackEntry = 0xAE
  case trackNumber = 0xD7
  case trackUID = 0x73C5
  case trackType = 0x83
  case flagLacing = 0x9C
  case language = 0x22_B59C
  case codecID = 0x86
  case codecPrivate = 0x63A2
  case codecDelay = 0x56AA
  case seekPreRoll = 0x56BB
  case video = 0xE0
  case pixelWidth = 0xB0
  case pixelHeight = 0xBA
  case audio = 0xE1
  case samplingFrequency = 0xB5
  case channels = 0x9F

  case cluster = 0x1F43_B675
  case timestamp = 0xE7
  case simpleBlock = 0xA3

  case cues = 0x1C53_BB6B
  case cuePoint = 0xBB
  case cueTime = 0xB3
  case cueTrackPositions = 0xB7
  case cueTrack = 0xF7
  case cueClusterPosition = 0xF1
}
