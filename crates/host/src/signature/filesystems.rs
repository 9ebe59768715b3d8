//! Marks of filesystems that are at least four fixed bytes at a fixed place.

use super::SignatureKind::{Encryption, Filesystem};
use super::magic::Magic;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const BTRFS: &str = "kernel: include/uapi/linux/btrfs_tree.h, fs/btrfs/disk-io.h";
const F2FS: &str = "kernel: include/linux/f2fs_fs.h";
const REISERFS: &str = "kernel up to 6.12: fs/reiserfs/reiserfs.h";
const OCFS2: &str = "kernel: fs/ocfs2/ocfs2_fs.h";
const CRAMFS: &str = "kernel: include/uapi/linux/cramfs_fs.h";
const UFS: &str = "kernel: fs/ufs/ufs_fs.h";
const VXFS: &str = "kernel: fs/freevxfs/vxfs.h";

const BCACHEFS: &str = "kernel 6.7 to 6.17: fs/bcachefs/bcachefs_format.h, super-io.c";
const BCACHEFS_MAGIC: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";

const fn bcachefs_last(bucket: u64) -> Magic {
    Magic::before_end(
        Filesystem,
        "bcachefs copy",
        (MIB - 24, bucket),
        BCACHEFS_MAGIC,
        BCACHEFS,
    )
    .out_of_wipefs()
}

pub(super) const MAGICS: &[Magic] = &[
    Magic::at(
        Filesystem,
        "XFS",
        0,
        b"XFSB",
        "kernel: fs/xfs/libxfs/xfs_format.h",
    )
    .named(108, 12),
    Magic::at(
        Filesystem,
        "XFS external log",
        0,
        b"\xfe\xed\xba\xbe",
        "kernel: fs/xfs/libxfs/xfs_log_format.h",
    ),
    // Three copies; a device that was made small and grew may lack the others.
    Magic::at(Filesystem, "Btrfs", 64 * KIB + 64, b"_BHRfS_M", BTRFS).named(64 * KIB + 0x12b, 256),
    Magic::at(Filesystem, "Btrfs copy", 64 * MIB + 64, b"_BHRfS_M", BTRFS).out_of_wipefs(),
    Magic::at(Filesystem, "Btrfs copy", 256 * GIB + 64, b"_BHRfS_M", BTRFS).out_of_wipefs(),
    // Blocks of 4 and of 16 KiB.
    Magic::at(Filesystem, "F2FS", KIB, b"\x10\x20\xf5\xf2", F2FS),
    Magic::at(Filesystem, "F2FS copy", 5 * KIB, b"\x10\x20\xf5\xf2", F2FS).out_of_wipefs(),
    Magic::at(Filesystem, "F2FS copy", 17 * KIB, b"\x10\x20\xf5\xf2", F2FS).out_of_wipefs(),
    Magic::at(
        Filesystem,
        "EROFS",
        KIB,
        b"\xe2\xe1\xf5\xe0",
        "kernel: fs/erofs/erofs_fs.h",
    ),
    Magic::at(
        Filesystem,
        "SquashFS",
        0,
        b"hsqs",
        "kernel: fs/squashfs/squashfs_fs.h",
    ),
    Magic::at(
        Filesystem,
        "SquashFS",
        0,
        b"sqsh",
        "kernel: fs/squashfs/squashfs_fs.h",
    ),
    Magic::at(Filesystem, "CramFS", 0, b"\x45\x3d\xcd\x28", CRAMFS),
    Magic::at(Filesystem, "CramFS", 0, b"\x28\xcd\x3d\x45", CRAMFS),
    Magic::at(
        Filesystem,
        "romfs",
        0,
        b"-rom1fs-",
        "kernel: include/uapi/linux/romfs_fs.h",
    ),
    Magic::at(Filesystem, "ReiserFS", 64 * KIB + 52, b"ReIsErFs", REISERFS),
    Magic::at(
        Filesystem,
        "ReiserFS",
        64 * KIB + 52,
        b"ReIsEr2Fs",
        REISERFS,
    ),
    Magic::at(
        Filesystem,
        "ReiserFS",
        64 * KIB + 52,
        b"ReIsEr3Fs",
        REISERFS,
    ),
    Magic::at(Filesystem, "ReiserFS", 8 * KIB + 52, b"ReIsErFs", REISERFS),
    Magic::at(Filesystem, "ReiserFS", 8 * KIB + 20, b"ReIsErFs", REISERFS),
    Magic::at(
        Filesystem,
        "Reiser4",
        64 * KIB,
        b"ReIsEr4",
        "reiser4progs: libreiser4/master.h",
    ),
    Magic::at(
        Filesystem,
        "JFS",
        32 * KIB,
        b"JFS1",
        "kernel: fs/jfs/jfs_superblock.h",
    ),
    Magic::at(
        Filesystem,
        "JFS copy",
        60 * KIB,
        b"JFS1",
        "kernel: fs/jfs/jfs_filsys.h",
    )
    .out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2", KIB, b"OCFSV2", OCFS2),
    Magic::at(Filesystem, "OCFS2", 2 * KIB, b"OCFSV2", OCFS2),
    Magic::at(Filesystem, "OCFS2", 4 * KIB, b"OCFSV2", OCFS2),
    Magic::at(Filesystem, "OCFS2", 8 * KIB, b"OCFSV2", OCFS2),
    // `fsck.ocfs2 -r` takes any of six.
    Magic::at(Filesystem, "OCFS2 copy", GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2 copy", 4 * GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2 copy", 16 * GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2 copy", 64 * GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2 copy", 256 * GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(Filesystem, "OCFS2 copy", 1024 * GIB, b"OCFSV2", OCFS2).out_of_wipefs(),
    Magic::at(
        Filesystem,
        "GFS2",
        64 * KIB,
        b"\x01\x16\x19\x70",
        "kernel: include/uapi/linux/gfs2_ondisk.h",
    ),
    Magic::at(
        Filesystem,
        "zonefs",
        0,
        b"SFOZ",
        "kernel: fs/zonefs/zonefs.h",
    ),
    Magic::at(
        Filesystem,
        "bcachefs",
        4 * KIB + 24,
        BCACHEFS_MAGIC,
        BCACHEFS,
    ),
    // Where its superblocks are is said in sector 7; the second stands behind
    // the first, which has a room of 1 MiB, the last in the last MiB before a
    // whole bucket.
    Magic::at(
        Filesystem,
        "bcachefs copy",
        7 * 512,
        BCACHEFS_MAGIC,
        BCACHEFS,
    )
    .out_of_wipefs(),
    Magic::at(
        Filesystem,
        "bcachefs copy",
        MIB + 4 * KIB + 24,
        BCACHEFS_MAGIC,
        BCACHEFS,
    )
    .out_of_wipefs(),
    bcachefs_last(64 * KIB),
    bcachefs_last(128 * KIB),
    bcachefs_last(256 * KIB),
    bcachefs_last(512 * KIB),
    bcachefs_last(MIB),
    Magic::at(
        Filesystem,
        "ISO 9660",
        32 * KIB + 1,
        b"CD001",
        "ECMA-119, 8.1; kernel: include/uapi/linux/iso_fs.h",
    )
    .named(32 * KIB + 40, 32),
    Magic::at(
        Filesystem,
        "High Sierra",
        32 * KIB + 9,
        b"CDROM",
        "kernel: include/uapi/linux/iso_fs.h",
    ),
    Magic::at(
        Filesystem,
        "APFS",
        32,
        b"NXSB",
        "Apple File System Reference, nx_superblock_t",
    ),
    Magic::at(
        Filesystem,
        "ReFS",
        0,
        b"\0\0\0ReFS\0",
        "libblkid: superblocks/refs.c",
    ),
    // Vista and 7; BitLocker To Go looks like FAT and is found as that.
    Magic::at(
        Encryption,
        "BitLocker",
        3,
        b"-FVE-FS-",
        "libbde: BitLocker Drive Encryption format",
    ),
    Magic::at(
        Filesystem,
        "VMFS",
        2 * MIB,
        b"\x5e\xf1\xab\x2f",
        "vmfs-tools: vmfs_fs.h",
    ),
    Magic::at(
        Filesystem,
        "BeFS",
        32,
        b"BFS1",
        "kernel: fs/befs/befs_fs_types.h",
    ),
    Magic::at(
        Filesystem,
        "BeFS",
        32,
        b"1SFB",
        "kernel: fs/befs/befs_fs_types.h",
    ),
    Magic::at(
        Filesystem,
        "BeFS",
        512 + 32,
        b"BFS1",
        "kernel: fs/befs/befs_fs_types.h",
    ),
    Magic::at(
        Filesystem,
        "BeFS",
        512 + 32,
        b"1SFB",
        "kernel: fs/befs/befs_fs_types.h",
    ),
    Magic::at(Filesystem, "VxFS", KIB, b"\xf5\xfc\x01\xa5", VXFS),
    Magic::at(Filesystem, "VxFS", 8 * KIB, b"\xa5\x01\xfc\xf5", VXFS),
    Magic::at(Filesystem, "UFS1", 8 * KIB + 1372, b"\x54\x19\x01\x00", UFS),
    Magic::at(
        Filesystem,
        "UFS2",
        64 * KIB + 1372,
        b"\x19\x01\x54\x19",
        UFS,
    ),
    // The second superblocks, as `fsck_ffs -b` has them: in sector 32 and 192.
    Magic::at(
        Filesystem,
        "UFS1 copy",
        32 * 512 + 1372,
        b"\x54\x19\x01\x00",
        UFS,
    )
    .out_of_wipefs(),
    Magic::at(
        Filesystem,
        "UFS2 copy",
        192 * 512 + 1372,
        b"\x19\x01\x54\x19",
        UFS,
    )
    .out_of_wipefs(),
    Magic::at(
        Filesystem,
        "HPFS",
        8 * KIB,
        b"\x49\xe8\x95\xf9",
        "kernel: fs/hpfs/hpfs.h",
    ),
    Magic::at(
        Filesystem,
        "UBIFS",
        0,
        b"\x31\x18\x10\x06",
        "kernel: fs/ubifs/ubifs-media.h",
    ),
];
